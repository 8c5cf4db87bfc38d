import type { Scene } from '../scene'
import { fair } from './fair'
import { fenced } from './fenced'
import { nonReentrant } from './non-reentrant'
import { plain } from './plain'
import { readWrite } from './read-write'
import { spin } from './spin'
import { token } from './token'

export const scenes: readonly Scene[] = [plain, readWrite, fair, fenced, nonReentrant, spin, token]

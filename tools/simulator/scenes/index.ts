import type { Scene } from '../scene'
import { plain } from './plain'

export const scenes: readonly Scene[] = [plain]

import { acquiring } from './acquiring-cases'
import { reentering, releasing, renewing } from './holding-cases'
import { forcing, inspecting } from './looking-cases'
import { writing } from './read-write-cases'
import { describeTable } from './tables'

const KIND = 'write-lock'
// Renewals take longest, so they begin first.
const tables = [renewing, acquiring, reentering, releasing, forcing, inspecting]
const cases = [...tables.flatMap((table) => table(KIND)), ...writing]

for (const where of ['standalone', 'in a cluster'] as const)
  describeTable(`the reply of a script of the ${KIND} is lost`, { where, of: 'script', cases })

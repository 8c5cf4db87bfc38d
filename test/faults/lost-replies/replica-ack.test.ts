import { acquiring } from './acquiring-cases'
import { describeTable } from './tables'

/** Without the long waits: these kinds have their own tables, and share the connection that waits for replicas. */
const IN_SHORT = /^free(?!.*(runs out|by another))|who releases it then/
const inShort = (['fair-lock', 'fenced-lock'] as const)
  .flatMap(acquiring)
  .filter(({ state }) => IN_SHORT.test(state))

// Only acquisitions are acknowledged. They go by a connection that resends nothing, so here the client itself does.
const cases = [...(['lock', 'read-lock', 'write-lock'] as const).flatMap(acquiring), ...inShort]

describeTable('the reply of a replica-acknowledged acquisition is lost', {
  where: 'behind Sentinel',
  of: 'script',
  cases,
})
describeTable('the reply of the WAIT behind an acquisition is lost', {
  where: 'behind Sentinel',
  of: 'wait',
  cases,
})

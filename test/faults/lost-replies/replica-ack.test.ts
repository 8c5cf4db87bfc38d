import { acquiring } from './acquiring-cases'
import { describeTable } from './tables'

// Only acquisitions are acknowledged. They go by a connection that resends nothing, so here the client itself does.
const cases = (['lock', 'read-lock', 'write-lock'] as const).flatMap(acquiring)

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

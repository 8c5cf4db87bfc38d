import { handingOver } from './handing-cases'
import { describeTable } from './tables'

const cases = handingOver('lock')

for (const where of ['standalone', 'in a cluster'] as const)
  describeTable('the reply of a hand-over is lost', { where, of: 'script', cases })

// There it counts once a replica has it.
for (const of of ['script', 'wait'] as const)
  describeTable(`the reply of ${of === 'wait' ? 'the WAIT behind ' : ''}an acknowledged hand-over is lost`, {
    where: 'behind Sentinel',
    of,
    cases,
  })

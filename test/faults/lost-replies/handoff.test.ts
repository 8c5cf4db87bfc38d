import { handingOff } from './handoff-cases'
import { describeTable } from './tables'

const cases = handingOff('lock')

for (const where of ['standalone', 'in a cluster'] as const)
  describeTable('the reply of a handoff is lost', { where, of: 'script', cases })

// There it counts once a replica has it.
for (const lost of ['script', 'wait'] as const)
  describeTable(
    `the reply of ${lost === 'wait' ? 'the WAIT behind ' : ''}a replica-acknowledged handoff is lost`,
    {
      where: 'behind Sentinel',
      of: lost,
      cases,
    },
  )

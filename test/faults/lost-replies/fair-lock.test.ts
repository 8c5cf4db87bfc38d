import { acquiring } from './acquiring-cases'
import { fairPlaces } from './fair-cases'
import { releasing } from './holding-cases'
import { forcing } from './looking-cases'
import type { Case } from './matrix'
import { describeTable } from './tables'

const KIND = 'fair-lock'

/** The other releases, re-entries, renewals and looks are sent as those of the plain lock, whose tables have them. */
const own = releasing(KIND).filter(({ state }) => !/held [23]×/.test(state))
/** What is sent to three keys, and published. Acquisitions take longest, and are in one table only. */
const ofTheQueue: Case[] = [...fairPlaces, ...own, ...forcing(KIND)]
const cases = { standalone: [...ofTheQueue, ...acquiring(KIND)], 'in a cluster': ofTheQueue }

for (const where of ['standalone', 'in a cluster'] as const)
  describeTable(`the reply of a script of the ${KIND} is lost`, { where, of: 'script', cases: cases[where] })

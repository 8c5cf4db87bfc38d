import { acquiring } from './acquiring-cases'
import { reentering } from './holding-cases'
import type { Case } from './matrix'
import { another, times } from './steps'
import { describeTable } from './tables'

const KIND = 'fenced-lock'

/** A copy of the command answers with the token that the first one drew, and draws none. */
const tokens: Case[] = [
  {
    kind: KIND,
    script: 'fenced-lock/acquire',
    state: 'free, with its token',
    arrange: ({ rival }) => times(3, () => rival.withLock(() => {})),
    act: ({ fenced }) => fenced.lockAndGetToken(),
    levels: 1,
  },
  {
    kind: KIND,
    script: 'fenced-lock/acquire',
    state: 'held by another, who releases it then, with its token',
    arrange: ({ rival }) => rival.lock(another),
    act: ({ fenced }) => fenced.tryLockAndGetToken(20_000),
    afterwards: ({ rival }) => rival.unlock(another),
    levels: 1,
  },
  {
    kind: KIND,
    script: 'fenced-lock/reenter',
    state: 'held 2×, with its token',
    arrange: ({ lock }) => times(2, () => lock.lock()),
    act: ({ fenced }) => fenced.lockAndGetToken(),
    levels: 3,
  },
]

// Its other scripts are those of the plain lock.
const cases = [...acquiring(KIND), ...reentering(KIND), ...tokens]

for (const where of ['standalone', 'in a cluster'] as const)
  describeTable(`the reply of a script of the ${KIND} is lost`, { where, of: 'script', cases })

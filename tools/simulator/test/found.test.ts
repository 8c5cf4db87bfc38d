import { expect } from 'chai'
import { runSchedule } from '../run-schedule'
import { scenes } from '../scenes'
import { findingsOf } from '../totals'

/** Schedules that found a fault, with what was wrong. */
const FOUND = [
  ['plain', 98, 'a channel that was dropped while the subscriber was away stayed in its dirty set (A4)'],
  [
    'mixture',
    8_881_079,
    'a connection of before a restart of the server took a new one with its number along',
  ],
  ['fenced', 49, 'the judge expected tokens to rise over a loss of all keys'],
  ['permits', 5591, 'a Java thread took a permit for its own whose lease was over before the answer'],
  ['permits', 5866, 'the judge excused no order where a wall clock was set forward'],
  ['semaphore', 21_450, 'a server that had ended answered a WAIT'],
  ['semaphore', 2466, 'the judge forgot that a refused message is missed until the next look, after 30 s'],
  [
    'latch',
    2432,
    'the judge took the answer of a second copy, after a loss of all keys, for that of the first one',
  ],
  [
    'latch',
    600_524,
    'the clocks of client and server ran apart, and a waiter took an older opening for its own (V90)',
  ],
  [
    'red',
    920_313,
    'a try without a wait slept behind a queue that yields, and its server counted as silent (V92)',
  ],
  ['semaphore', 7_102_567, 'a passed permit left a smaller request asleep beside a free permit (V93)'],
  [
    'fair',
    8739,
    'the judge took the place of a caller that gave up, while the server was away, for a living one',
  ],
  [
    'fair',
    9747,
    'the judge took the place of a client that shut down, while the server was away, for a living one',
  ],
  ['read-write', 19_778, 'the judge did not know that a failover brings the field of a reader back'],
  ['read-write', 60_274, 'the judge did not know that the last level of a hold may be that of a re-entry'],
  ['siblings', 24_490, 'the judge did not know that a failover may undo a renewal that waits for no replica'],
  [
    'fair',
    900_074,
    'the judge took the place of a client that was killed as its caller gave up for a living one',
  ],
  [
    'fenced',
    70_442,
    'the judge forgot that a suspended client comes in with a token of before a loss of all keys',
  ],
  [
    'red',
    85_599,
    'the judge did not know that a client that shuts down may release what it has told its holder of',
  ],
  [
    'run-once',
    40_259,
    'a wall clock that was set back made a job of runOnce keep its name for as long (V107)',
  ],
  [
    'latch',
    53_669,
    'the judge took the answer of a second copy, which came after a loss of all keys, for that of the first',
  ],
  ['red', 21_188, 'a RedLock whose time was over when its quorum came was an error of its own code'],
  ['spin', 50_340, 'the judge did not know that the renewals of an inner level may be undone, too'],
  [
    'fenced',
    53_483,
    'the world did not know that a failover may leave a Java thread a level that it renews for ever',
  ],
  [
    'fenced',
    56_923,
    'the judge expected an order of tokens where a stranger deletes a lock whose answer is on its way',
  ],
  ['levels', 79_307, 'the judge took the late release of a hold that had ended for the end of the next one'],
  ['fair', 31_801, 'the judge took a re-entry that was answered as its client closed for a new hold'],
  ['bare', 900_048, 'the judge took the end of a forced release for its begin'],
  ['mixture', 5933, 'the judge did not know that a failover may undo what a latch was set to'],
  [
    'token',
    900_111,
    'the judge did not know that a lease may be over before a replica that is as far behind acknowledges the grant',
  ],
  ...(
    [
      ['plain', 21_968],
      ['fair', 61_634],
      ['fenced', 599],
      ['fenced', 2227],
      ['fenced', 9_001_844],
      ['plain', 22_000_332],
    ] as const
  ).map(
    ([scene, seed]) =>
      [scene, seed, 'the judge did not know that Java tells a thread nothing whose key ran out'] as const,
  ),
  ...([20_258, 3110] as const).map(
    (seed) => ['fair', seed, 'Java answers the release of a fair lock that is gone with success'] as const,
  ),
  ['fenced', 700_001, 'the judge did not know that a failover may undo the tokens that Java drew'],
  [
    'read-write',
    9_000_476,
    'the release of the last living level freed a read hold before its holder was told (V119)',
  ],
  ['read-write', 482, 'the judge forgot the TTL that a waiter had read of an earlier owner'],
  ['siblings', 2129, 'the judge forgot the TTL that a waiter had read of an earlier owner'],
  ['fair', 60_786, 'the judge did not know that a waiter reads how long the place of the head lasts'],
  ['mixture', 9_000_495, 'a suspended client read a TTL late, and its waiters slept for it from then on'],
  ['fair', 3210, 'the judge took the place of a waiter whose leave was refused for a leak'],
  ['fair', 9_001_443, 'the judge took the place of a waiter whose leave was refused for a leak'],
  ['non-reentrant', 4116, 'a wall clock that was set back hid from a client for how long its machine slept'],
  ['read-write', 21_000_427, 'a wall clock that was set back hid from a client that its lease was over'],
  ['plain', 20_000_182, 'a Java thread locked again before a late copy of its request had run'],
  [
    'fair',
    20_000_229,
    'a replica had a key again that had run out before the clock of its primary was set back',
  ],
  ['semaphore', 30_007_675, 'the judge did not know that a failover may undo what Java took'],
  ['fenced', 30_008_436, 'a Java thread forgot a level whose request got an error, and Java renewed it'],
] as const

describe('Schedules of the simulator that found a fault', () => {
  for (const [name, seed, what] of FOUND)
    it(`Seed ${seed} of the scene ${name} is without a violation: ${what}`, async () => {
      const scene = scenes.find((each) => each.name === name)!
      expect(findingsOf(await runSchedule(scene, seed))).to.deep.equal([])
    })
})

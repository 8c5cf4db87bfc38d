import { expect } from 'chai'
import { runSchedule } from '../run-schedule'
import { scenes } from '../scenes'
import { findingsOf } from '../totals'

/** The seeds of each scene whose schedules found a fault, with what was wrong. */
const FOUND: Record<string, Record<number, string>> = {
  plain: {
    98: 'a channel that was dropped while the subscriber was away stayed in its dirty set (A4)',
    21968: 'the judge did not know that Java tells a thread nothing whose key ran out',
    22000332: 'the judge did not know that Java tells a thread nothing whose key ran out',
    20000182: 'a Java thread locked again before a late copy of its request had run',
  },
  mixture: {
    8881079: 'a connection of before a restart of the server took a new one with its number along',
    5933: 'the judge did not know that a failover may undo what a latch was set to',
    9000495: 'a suspended client read a TTL late, and its waiters slept for it from then on',
  },
  fenced: {
    49: 'the judge expected tokens to rise over a loss of all keys',
    70442: 'the judge forgot that a suspended client comes in with a token of before a loss of all keys',
    53483: 'the world did not know that a failover may leave a Java thread a level that it renews for ever',
    56923: 'the judge expected an order of tokens where a stranger deletes a lock whose answer is on its way',
    599: 'the judge did not know that Java tells a thread nothing whose key ran out',
    2227: 'the judge did not know that Java tells a thread nothing whose key ran out',
    9001844: 'the judge did not know that Java tells a thread nothing whose key ran out',
    700001: 'the judge did not know that a failover may undo the tokens that Java drew',
    30008436: 'a Java thread forgot a level whose request got an error, and Java renewed it',
  },
  permits: {
    5591: 'a Java thread took a permit for its own whose lease was over before the answer',
    5866: 'the judge excused no order where a wall clock was set forward',
  },
  semaphore: {
    21450: 'a server that had ended answered a WAIT',
    2466: 'the judge forgot that a refused message is missed until the next look, after 30 s',
    7102567: 'a passed permit left a smaller request asleep beside a free permit (V93)',
    30007675: 'the judge did not know that a failover may undo what Java took',
  },
  latch: {
    2432: 'the judge took the answer of a second copy, after a loss of all keys, for that of the first one',
    600524: 'the clocks of client and server ran apart, and a waiter took an older opening for its own (V90)',
    53669:
      'the judge took the answer of a second copy, which came after a loss of all keys, for that of the first',
  },
  red: {
    920313: 'a try without a wait slept behind a queue that yields, and its server counted as silent (V92)',
    85599: 'the judge did not know that a client that shuts down may release what it has told its holder of',
    21188: 'a RedLock whose time was over when its quorum came was an error of its own code',
  },
  fair: {
    8739: 'the judge took the place of a caller that gave up, while the server was away, for a living one',
    9747: 'the judge took the place of a client that shut down, while the server was away, for a living one',
    900074: 'the judge took the place of a client that was killed as its caller gave up for a living one',
    31801: 'the judge took a re-entry that was answered as its client closed for a new hold',
    61634: 'the judge did not know that Java tells a thread nothing whose key ran out',
    20258: 'Java answers the release of a fair lock that is gone with success',
    3110: 'Java answers the release of a fair lock that is gone with success',
    60786: 'the judge did not know that a waiter reads how long the place of the head lasts',
    3210: 'the judge took the place of a waiter whose leave was refused for a leak',
    9001443: 'the judge took the place of a waiter whose leave was refused for a leak',
    20000229: 'a replica had a key again that had run out before the clock of its primary was set back',
  },
  'read-write': {
    19778: 'the judge did not know that a failover brings the field of a reader back',
    60274: 'the judge did not know that the last level of a hold may be that of a re-entry',
    9000476: 'the release of the last living level freed a read hold before its holder was told (V119)',
    482: 'the judge forgot the TTL that a waiter had read of an earlier owner',
    21000427: 'a wall clock that was set back hid from a client that its lease was over',
  },
  siblings: {
    24490: 'the judge did not know that a failover may undo a renewal that waits for no replica',
    2129: 'the judge forgot the TTL that a waiter had read of an earlier owner',
  },
  'run-once': {
    40259: 'a wall clock that was set back made a job of runOnce keep its name for as long (V107)',
  },
  spin: {
    50340: 'the judge did not know that the renewals of an inner level may be undone, too',
  },
  levels: {
    79307: 'the judge took the late release of a hold that had ended for the end of the next one',
  },
  bare: {
    900048: 'the judge took the end of a forced release for its begin',
  },
  token: {
    900111:
      'the judge did not know that a lease may be over before a replica that is as far behind acknowledges the grant',
  },
  'non-reentrant': {
    4116: 'a wall clock that was set back hid from a client for how long its machine slept',
  },
}

describe('Schedules of the simulator that found a fault', () => {
  for (const [name, seeds] of Object.entries(FOUND))
    for (const [seed, what] of Object.entries(seeds))
      it(`Seed ${seed} of the scene ${name} is without a violation: ${what}`, async () => {
        const scene = scenes.find((each) => each.name === name)!
        expect(findingsOf(await runSchedule(scene, Number(seed)))).to.deep.equal([])
      })
})

import { expect } from 'chai'
import { classify, type FailureKind, isRefusal } from '../../src/connection/failures'

describe('what an error means for the command that met it', () => {
  const meanings: readonly (readonly [FailureKind, boolean, string])[] = [
    ['passing', true, 'LOADING Redis is loading the dataset in memory'],
    ['passing', true, "READONLY You can't write against a read only replica."],
    [
      'passing',
      true,
      "ERR Error running script (call to f_ab): @user_script:1: -READONLY You can't write against a read only replica.",
    ],
    [
      'passing',
      true,
      'BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.',
    ],
    ['passing', true, 'CLUSTERDOWN The cluster is down'],
    ['passing', false, 'TRYAGAIN Multiple keys request during rehashing of slot'],
    ['passing', false, 'MOVED 3999 127.0.0.1:6381'],
    [
      'passing',
      false,
      'ERR Script attempted to access a non local key in a cluster node script: ab, on @user_script:1.',
    ],
    ['connection', false, 'Connection is closed.'],
    ['final', false, "ERR unknown command 'nonsense'"],
  ]
  for (const [kind, refusal, message] of meanings)
    it(`atlas D6: ${message.slice(0, 60)}`, () => {
      for (const error of [
        new Error(message),
        // As ioredis says it after it has tried for long enough by itself.
        new Error(`Too many Cluster redirections. Last error: ReplyError: ${message}`),
      ]) {
        expect(classify(error)).to.equal(kind)
        expect(isRefusal(error)).to.equal(refusal)
      }
    })
})

import { expect } from 'chai'
import { classify, type FailureKind, isDeclined } from '../../../src/redis/reply/errors'

describe('what an error means for the command that met it', () => {
  const meanings: readonly (readonly [FailureKind, boolean, string])[] = [
    ['transient', true, 'LOADING Redis is loading the dataset in memory'],
    ['transient', true, "READONLY You can't write against a read only replica."],
    [
      'transient',
      true,
      "ERR Error running script (call to f_ab): @user_script:1: -READONLY You can't write against a read only replica.",
    ],
    [
      'transient',
      true,
      'BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.',
    ],
    ['transient', true, 'CLUSTERDOWN The cluster is down'],
    ['transient', false, 'TRYAGAIN Multiple keys request during rehashing of slot'],
    ['transient', false, 'MOVED 3999 127.0.0.1:6381'],
    [
      'transient',
      false,
      'ERR Script attempted to access a non local key in a cluster node script: ab, on @user_script:1.',
    ],
    ['connection', false, 'Connection is closed.'],
    ['transient', true, "OOM command not allowed when used memory > 'maxmemory'."],
    [
      'transient',
      true,
      "ERR Error running script (call to f_ab): @user_script:1: -OOM command not allowed when used memory > 'maxmemory'.",
    ],
    [
      'transient',
      true,
      "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist",
    ],
    ['transient', true, 'NOREPLICAS Not enough good replicas to write.'],
    ['transient', true, 'ERR max number of clients reached'],
    ['refused', false, "ERR unknown command 'nonsense'"],
    [
      'refused',
      false,
      "ERR unknown command 'evalsha', with args beginning with: 'OOM LOADING' 'Socket closed' ",
    ],
    ['refused', false, "ERR unknown subcommand 'SHARDNUMSUB'. Try PUBSUB HELP."],
    ['refused', false, '@user_script: 1: Unknown Redis command called from Lua script'],
    ['refused', false, "NOPERM this user has no permissions to run the 'evalsha' command"],
    [
      'refused',
      false,
      "ERR The user executing the script can't run this command or subcommand script: ab, on @user_script:8.",
    ],
    // Redis 7.2 and later quote the name of the user, which may be any word (V25).
    ['refused', false, "NOPERM User NOSCRIPT has no permissions to run the 'evalsha' command"],
    ['refused', false, "NOPERM User WRONGTYPE has no permissions to run the 'evalsha' command"],
    ['refused', false, 'NOPERM User -LOADING has no permissions to access one of the keys'],
    ['noscript', false, 'NOSCRIPT No matching script. Please use EVAL.'],
    ['refused', false, 'NOAUTH Authentication required.'],
    ['refused', false, 'WRONGPASS invalid username-password pair or user is disabled.'],
    ['final', false, 'something that no server said'],
  ]
  for (const [kind, refusal, message] of meanings)
    it(`${message.slice(0, 60)} (D6)`, () => {
      for (const error of [
        new Error(message),
        // As ioredis says it after it has tried for long enough by itself.
        new Error(`Too many Cluster redirections. Last error: ReplyError: ${message}`),
      ]) {
        expect(classify(error)).to.equal(kind)
        expect(isDeclined(error)).to.equal(refusal)
      }
    })
})

import { expect } from 'chai'
import { classify, type FailureKind, isDeclined } from '../../../src/redis/reply/errors'

describe('what an error means for the command that met it', () => {
  const meanings: readonly (readonly [FailureKind, boolean, readonly string[]])[] = [
    [
      'transient',
      true,
      [
        'LOADING Redis is loading the dataset in memory',
        "READONLY You can't write against a read only replica.",
        "ERR Error running script (call to f_ab): @user_script:1: -READONLY You can't write against a read only replica.",
        'BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.',
        'CLUSTERDOWN The cluster is down',
        "OOM command not allowed when used memory > 'maxmemory'.",
        "ERR Error running script (call to f_ab): @user_script:1: -OOM command not allowed when used memory > 'maxmemory'.",
        "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist",
        'NOREPLICAS Not enough good replicas to write.',
        'ERR max number of clients reached',
      ],
    ],
    [
      'transient',
      false,
      [
        'TRYAGAIN Multiple keys request during rehashing of slot',
        'MOVED 3999 127.0.0.1:6381',
        'ERR Script attempted to access a non local key in a cluster node script: ab, on @user_script:1.',
      ],
    ],
    ['connection', false, ['Connection is closed.']],
    [
      'refused',
      false,
      [
        "ERR unknown command 'nonsense'",
        "ERR unknown command 'evalsha', with args beginning with: 'OOM LOADING' 'Socket closed' ",
        "ERR unknown subcommand 'SHARDNUMSUB'. Try PUBSUB HELP.",
        '@user_script: 1: Unknown Redis command called from Lua script',
        "NOPERM this user has no permissions to run the 'evalsha' command",
        "ERR The user executing the script can't run this command or subcommand script: ab, on @user_script:8.",
        // Redis 7.2 and later quote the name of the user, which may be any word (V25).
        "NOPERM User NOSCRIPT has no permissions to run the 'evalsha' command",
        "NOPERM User WRONGTYPE has no permissions to run the 'evalsha' command",
        'NOPERM User -LOADING has no permissions to access one of the keys',
        'NOAUTH Authentication required.',
        'WRONGPASS invalid username-password pair or user is disabled.',
      ],
    ],
    ['noscript', false, ['NOSCRIPT No matching script. Please use EVAL.']],
    ['final', false, ['something that no server said']],
  ]
  for (const [kind, refusal, messages] of meanings)
    for (const message of messages)
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

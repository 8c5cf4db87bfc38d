/** Subcommands that the package or ioredis sends. */
const SUBCOMMANDS = {
  acl: ['dryrun', 'getuser', 'whoami'],
  client: ['id', 'kill', 'setname'],
  cluster: ['info', 'keyslot', 'myid', 'nodes', 'slots'],
} as const

/**
 * ACL rules that take one subcommand from a user who may use all. Redis 6.2 can take commands only: the command goes,
 * and its other subcommands come back.
 */
export function without<C extends keyof typeof SUBCOMMANDS>(
  command: C,
  subcommand: (typeof SUBCOMMANDS)[C][number],
): string[] {
  const others = SUBCOMMANDS[command].filter((each) => each !== subcommand)
  return [`-${command}`, ...others.map((each) => `+${command}|${each}`)]
}

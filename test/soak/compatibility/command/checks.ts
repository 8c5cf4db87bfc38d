/** What each command of `rlock` shows on a Node: one row of the page each. */
export const COMMAND_CHECKS = [
  { name: 'help', title: '`rlock --help`' },
  { name: 'ls', title: '`rlock ls` finds a lock, and the process that holds it' },
  { name: 'show', title: '`rlock show` says who waits' },
  { name: 'unlock', title: '`rlock unlock --yes` frees it, and its holder notices' },
  { name: 'exec', title: '`rlock exec` holds the lock while a command runs, and ends with its code' },
  { name: 'watch', title: '`rlock watch` shows an acquisition and a release' },
  { name: 'doctor', title: '`rlock doctor` finds a planted defect' },
  { name: 'page', title: '`rlock page` serves its page' },
] as const

export type CommandCheck = (typeof COMMAND_CHECKS)[number]['name']

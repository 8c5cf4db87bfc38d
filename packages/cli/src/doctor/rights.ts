import { luaSources } from 'rlock/internal'
import type { Check } from './check'

/** What each object calls beside its scripts. */
const BESIDE = ['evalsha', 'eval', 'subscribe'] as const
const NAME_OF_FOLDER = (folder: string) => folder.replaceAll('-', ' ')
/** Enough arguments for each command that the scripts call: DRYRUN checks their number, too. */
const ARGUMENTS: Record<string, readonly string[]> = {
  evalsha: ['no-such-script', '0'],
  eval: ['return 1', '0'],
  subscribe: ['rlock'],
  time: [],
  publish: ['rlock', '0'],
  spublish: ['rlock', '0'],
}

/** Which commands of Redis the scripts of each object call, by the folder of the object under lua/. */
function commandsOfScripts(): Map<string, string[]> {
  const commands = new Map<string, string[]>()
  for (const [name, source] of Object.entries<string>(luaSources)) {
    const folder = name.split('/')[0]!
    const called = [...source.matchAll(/redis\.p?call\('(\w+)'/g)].map(([, command]) => command!)
    commands.set(folder, [...(commands.get(folder) ?? []), ...called])
  }
  return commands
}

/** The rights that the user of this connection does not have, by object. Run it with the user of the services. */
export const rights: Check = async ({ connection, nodes }) => {
  const [node] = nodes
  const missing =
    'which rights are missing: the right to ACL WHOAMI and ACL DRYRUN is missing, or the server is older than 7.0'
  const user = await connection.tell(node!.redis, missing, 'acl', 'whoami')
  if (user === undefined) return []
  const lacking = new Map<string, string[]>()
  const refused = new Map<string, boolean>()
  const mayNot = async (command: string) => {
    const known = refused.get(command)
    if (known !== undefined) return known
    const args = ARGUMENTS[command]
    let answer: unknown = ''
    // Without a list of arguments for each command: DRYRUN complains of their number until there are enough.
    for (let count = 1; count < 6; count++) {
      const given = args ?? Array(count).fill('rlock')
      answer = await connection
        .ask(node!.redis, [['acl', 'dryrun', String(user), command, ...given]])
        .then(([each]) => (each && 'value' in each ? each.value : each?.error.message))
      if (args || !/wrong number of arguments/.test(String(answer))) break
    }
    const is = /no permissions to run the/.test(String(answer))
    refused.set(command, is)
    return is
  }
  for (const [folder, commands] of commandsOfScripts()) {
    const own = [...BESIDE, connection.publish, ...commands.filter((each) => each !== 'publish')]
    for (const command of new Set(own))
      if (await mayNot(command))
        lacking.set(command, [...(lacking.get(command) ?? []), NAME_OF_FOLDER(folder)])
  }
  return [...lacking].map(([command, objects]) => ({
    id: 'missing-right',
    level: 'error' as const,
    message: `the user ${user} may not call ${command.toUpperCase()}, which these need: ${objects.join(', ')}`,
    page: 'docs/operations/security.md',
    fix: `ACL SETUSER ${user} +${command}`,
  }))
}

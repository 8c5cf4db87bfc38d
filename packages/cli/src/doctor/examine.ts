import type { Connection } from '../connection'
import { findObjects } from '../find'
import { addressOf } from '../pages'
import { type Check, type Finding, fromTable, type Node, type Patient } from './check'
import { companions, cycles, fairQueues, locks, longHolds, twoKinds } from './object-checks'
import { rights } from './rights'
import { SERVER_CHECKS } from './server-checks'

/** A new check is one more entry. */
const CHECKS: readonly Check[] = [
  fromTable(SERVER_CHECKS),
  rights,
  locks,
  longHolds,
  twoKinds,
  fairQueues,
  companions,
  cycles,
]

/** Runs every check. The pages of the findings are addresses. */
export async function examine(
  connection: Connection,
  names: readonly string[] = [],
  longerThan?: number,
): Promise<Finding[]> {
  const patient = { ...(await patientOf(connection)), names, longerThan }
  const findings: Finding[] = []
  for (const check of CHECKS)
    try {
      findings.push(...(await check(patient)))
    } catch (error) {
      if (!/NOPERM/.test((error as Error).message)) throw connection.safeError(error)
      connection.unseen.add(`the result of a check: ${(error as Error).message.slice(0, 120)}`)
    }
  const told = findings.map((finding) => ({ ...finding, page: addressOf(finding.page) }))
  return told.sort((a, b) => (a.level === b.level ? 0 : a.level === 'error' ? -1 : 1))
}

async function patientOf(connection: Connection): Promise<Omit<Patient, 'names' | 'longerThan'>> {
  // Numbers too: one of them may be a semaphore that shares its name with a lock.
  const { rows, processes } = await findObjects(connection, { all: true })
  const nodes: Node[] = []
  for (const redis of connection.primaries()) {
    const missing = 'the settings of the server: the right to INFO is missing'
    const text = String((await connection.tell(redis, missing, 'info', 'everything')) ?? '')
    const info = new Map(
      [...text.matchAll(/^(\w+):(.*?)\r?$/gm)].map(([, field, content]) => [field!, content!]),
    )
    const { host, port, path } = redis.options
    nodes.push({ redis, info, address: path ?? `${host}:${port}` })
  }
  return {
    connection,
    nodes,
    rows,
    processes,
    async config({ redis }, name) {
      const missing = 'some settings of the server: the right to CONFIG GET is missing'
      const answer = await connection.tell(redis, missing, 'config', 'get', name)
      return answer === undefined ? undefined : (answer as string[])[1]
    },
  }
}

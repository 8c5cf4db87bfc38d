import { Connection } from '../connection'
import { EXIT } from '../exit'
import { type ConnectionValues, redissonOptions } from '../target'
import { complain } from '../terminal'

/** Runs with a connection, says at the end what could not be seen, and closes. */
export async function withConnection(
  given: ConnectionValues,
  work: (connection: Connection) => Promise<number>,
): Promise<number> {
  const connection = await Connection.open(redissonOptions(given))
  try {
    return await work(connection)
  } finally {
    for (const missing of connection.unseen) complain(`not seen: ${missing}`)
    connection.close()
  }
}

/** Prints how a command is used. */
export function help(usage: string): number {
  process.stdout.write(`${usage.trim()}\n`)
  return EXIT.done
}

/** Resolves at the first of these signals, so that a live view ends orderly. */
export function stopped(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve())
  })
}

/** Resolves with false: nothing has ended meanwhile. */
export const pause = (ms: number) => new Promise<boolean>((resolve) => setTimeout(() => resolve(false), ms))

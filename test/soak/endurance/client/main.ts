// The process that is measured: a plain node with the client and nothing else in it.
// Arguments: the module of the client, the server's URL, what to do as JSON.
import { createRequire } from 'node:module'
import type { Redisson as RedissonClass } from '../../../../src/index'
import type { Order, Result } from '../messages'
import { held } from './held'
import { leaveParent, listenToParent, tell } from './parent'
import { waiters } from './waiters'
import { cycles } from './ways'

const WATCHDOG = 30_000

async function main() {
  const [module, redis, json] = process.argv.slice(2) as [string, string, string]
  const order = JSON.parse(json) as Order
  const { Redisson } = createRequire(__filename)(module) as { Redisson: typeof RedissonClass }
  listenToParent()
  const clients: RedissonClass[] = []
  const open = async (lockWatchdogTimeout: number) => {
    const redisson = await Redisson.create({ redis, lockWatchdogTimeout })
    clients.push(redisson)
    return redisson
  }
  let result: Result
  if (order.part === 'cycles') result = await cycles(await open(WATCHDOG), order)
  else if (order.part === 'waiters') result = await waiters(await open(WATCHDOG), await open(WATCHDOG), order)
  else result = await held(open, order)
  tell({ kind: 'result', result })
  for (const client of clients) await client.shutdown()
  await leaveParent()
}

void main()

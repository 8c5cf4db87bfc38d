import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Redisson } from '../../src/index'
import { createRedisson, uniqueName } from '../kit/clients'
import type { Standalone } from '../kit/servers/index'

/** What Redisson's tests of its multi lock and of its RedLock ask alike. */

/** A thread that asks for three locks while another one holds them enters after that one. */
export async function heldByAnotherThread(redisson: Redisson): Promise<void> {
  const prefix = uniqueName()
  const locks = [1, 2, 3].map((n) => redisson.getLock(`${prefix}:${n}`))
  const steps: string[] = []
  let locked!: () => void
  const isLocked = new Promise<void>((resolve) => {
    locked = resolve
  })
  const other = redisson.run(async () => {
    const lock = redisson.getMultiLock(...locks)
    await lock.lock()
    locked()
    await sleep(300)
    steps.push('released')
    await lock.unlock()
  })
  await isLocked
  await redisson.run(async () => {
    const lock = redisson.getMultiLock(...locks)
    await lock.lock()
    steps.push('entered')
    await lock.unlock()
  })
  await other
  expect(steps).to.deep.equal(['released', 'entered'])
}

/** What one thread holds on three servers, another one tries twice without success. */
export async function heldOnThreeServers(servers: readonly Standalone[]): Promise<void> {
  const clients = await Promise.all(servers.map(({ url }) => createRedisson({ redis: url })))
  const [first] = clients as [Redisson]
  const name = uniqueName()
  const locks = clients.map((client) => client.getLock(name))
  await first.run(async () => {
    const lock = first.getMultiLock(...locks)
    await lock.lock()
    await first.run(async () => {
      const tried = first.getMultiLock(...locks)
      expect(await tried.tryLock()).to.equal(false)
      expect(await tried.tryLock()).to.equal(false)
    })
    await lock.unlock()
  })
  for (const lock of locks) expect(await lock.isLocked()).to.equal(false)
}

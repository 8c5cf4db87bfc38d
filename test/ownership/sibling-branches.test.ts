import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createRedisson, uniqueName } from '../kit/clients'
import { lock, name, redis, redisson } from '../kit/each-test'
import { leftIn } from '../kit/left-in'
import { deferred } from '../kit/observing'
import { Section } from '../kit/section'
import { waitUntil } from '../kit/servers/index'
import { branch, section, siblingScene, siblings } from './sibling-scene'

/** The lock is held by one path of the tree of logical threads: siblings exclude each other below a hold, too. */
describe('Siblings below a thread that holds the lock', () => {
  siblingScene()

  for (const [where, around] of [
    ['withLock', (fn: () => Promise<unknown>) => lock.withLock(fn)],
    [
      'run and lock()',
      (fn: () => Promise<unknown>) =>
        redisson.run(async () => {
          await lock.lock()
          await fn()
          await lock.unlock()
        }),
    ],
    [
      'run and acquire()',
      (fn: () => Promise<unknown>) =>
        redisson.run(async () => {
          const hold = await lock.acquire()
          await fn()
          await hold.unlock()
        }),
    ],
  ] as const)
    it(`Siblings inside ${where} exclude each other, first come, first served`, async () => {
      await around(() => siblings(5))
      expect(section.most).to.equal(1)
      expect(section.order).to.deep.equal([0, 1, 2, 3, 4])
      expect(await redis.exists(name)).to.equal(0)
    })

  it('Siblings exclude each other when an ancestor further up holds the lock', async () => {
    await lock.withLock(() => branch(() => branch(() => siblings())))
    expect(section.most).to.equal(1)
  })

  it('Cousin branches exclude each other', async () => {
    await lock.withLock(() => Promise.all([branch(() => siblings()), branch(() => siblings())]))
    expect(section.most).to.equal(1)
  })

  it('Siblings exclude each other through lock() and acquire() as through withLock', async () => {
    await redisson.run(async () => {
      await lock.lock()
      await Promise.all([
        branch(async () => {
          await lock.lock()
          await section.enter(1)
          await lock.unlock()
        }),
        branch(async () => {
          const hold = await lock.acquire()
          await section.enter(2)
          await hold.unlock()
        }),
        lock.withLock(() => section.enter(3)),
      ])
      await lock.unlock()
    })
    expect(section.most).to.equal(1)
    expect(section.order).to.have.length(3)
    expect(await lock.isLocked()).to.equal(false)
  })

  it('Siblings exclude each other through every lock object of the name', async () => {
    await lock.withLock(() =>
      Promise.all([1, 2, 3].map((each) => redisson.getLock(name).withLock(() => section.enter(each)))),
    )
    expect(section.most).to.equal(1)
  })

  it('Siblings exclude each other when no ancestor holds the lock', async () => {
    await redisson.run(async () => {
      await Promise.all([siblings(), branch(() => siblings())])
    })
    expect(section.most).to.equal(1)
    expect(section.order).to.have.length(6)
  })

  it('A branch inside does not exclude its descendants, which re-enter before siblings', async () => {
    const order: string[] = []
    await lock.withLock(() =>
      Promise.all(
        ['a', 'b'].map((each) =>
          lock.withLock(async () => {
            order.push(`${each} in`)
            await sleep(2)
            await branch(() => lock.withLock(() => lock.withLock(async () => order.push(`${each} deep`))))
            expect(await lock.tryLock()).to.equal(true)
            await lock.unlock()
            order.push(`${each} out`)
          }),
        ),
      ),
    )
    expect(order).to.deep.equal(['a in', 'a deep', 'a out', 'b in', 'b deep', 'b out'])
  })

  it('Siblings exclude each other at every depth of a path', async () => {
    const within = new Map<string, Section>()
    const at = (key: string) => within.get(key) ?? within.set(key, new Section()).get(key)!
    await lock.withLock(() =>
      Promise.all(
        [1, 2, 3].map((outer) =>
          lock.withLock(async () => {
            const entered = at('outer').enter(outer)
            await Promise.all([1, 2, 3].map((inner) => lock.withLock(() => at('inner').enter(inner))))
            await entered
          }),
        ),
      ),
    )
    expect(at('outer').most).to.equal(1)
    expect(at('inner').most).to.equal(1)
    expect(at('inner').order).to.have.length(9)
  })

  it('A waiting call enters with another call of its path, though a sibling came in between', async () => {
    // The branch b asks twice, c in between, and waits for both: the second must not stay behind c.
    const inside = deferred()
    const childWaits = deferred()
    const siblingWaits = deferred()
    await lock.withLock(async () => {
      const a = lock.withLock(() => inside.promise)
      const b = branch(async () => {
        const child = branch(async () => {
          const own = lock.withLock(() => section.enter(1))
          childWaits.resolve()
          await own
        })
        await siblingWaits.promise
        const own = lock.lock()
        inside.resolve()
        await Promise.all([own, child])
        await lock.unlock()
      })
      await childWaits.promise
      const c = lock.withLock(() => section.enter(2))
      siblingWaits.resolve()
      await Promise.all([a, b, c])
    })
    expect(section.order).to.deep.equal([1, 2])
  })

  it('tryLock() of a sibling waits as long as it says, and is false while another is in', async () => {
    await lock.withLock(async () => {
      const leave = deferred()
      const inside = lock.withLock(() => leave.promise)
      const tries = () =>
        branch(async () => [await lock.tryLock(), await lock.tryLock(20), await lock.tryAcquire()])
      expect(await tries()).to.deep.equal([false, false, undefined])
      const patient = branch(() => lock.tryLock(10_000))
      leave.resolve()
      await inside
      expect(await patient).to.equal(true)
      expect(await branch(() => lock.tryLock()), 'the place of a branch that ended').to.equal(true)
      await lock.unlock()
      await lock.unlock()
    })
  })

  it('Strangers stay out while a sibling is inside', async () => {
    await lock.withLock(async () => {
      await lock.withLock(async () => {
        expect(await redisson.run(() => lock.tryLock())).to.equal(false)
        expect(await (await createRedisson()).getLock(name).tryLock()).to.equal(false)
      })
    })
  })

  it('Siblings that excluded each other leave nothing behind', async () => {
    await lock.withLock(() => Promise.all([siblings(20), lock.tryLock(), branch(() => lock.tryLock(1))]))
    await lock.forceUnlock()
    await waitUntil('nothing is left', () => Object.keys(leftIn(redisson)).length === 0)
  })

  it('One path of a random tree holds the lock at a time, and every branch gets in', async () => {
    // Each thread notes the path of those inside: one of any two must be an ancestor of the other.
    const inside = new Set<readonly number[]>()
    const isWithin = (a: readonly number[], b: readonly number[]) =>
      a.every((each, depth) => b[depth] === each)
    let entered = 0
    const grow = async (path: readonly number[], depth: number): Promise<void> => {
      const takesIt = Math.random() < 0.7
      await (takesIt ? lock : redisson.getLock(uniqueName('branch'))).withLock(async () => {
        if (takesIt) {
          entered++
          for (const other of inside)
            expect(isWithin(path, other) || isWithin(other, path), `${path} beside ${other}`).to.equal(true)
          inside.add(path)
        }
        if (Math.random() < 0.5) await sleep(1)
        if (depth > 0) await Promise.all([0, 1, 2].map((child) => grow([...path, child], depth - 1)))
        inside.delete(path)
      })
    }
    await Promise.all([0, 1].map((root) => grow([root], 3)))
    expect(entered).to.be.greaterThan(5)
    expect(await lock.isLocked()).to.equal(false)
  })
})

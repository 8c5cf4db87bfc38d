import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import type { ClientInternals } from '../../src/client/client-internals'
import type { Redisson, RLock } from '../../src/index'
import { createRedisson, openRedis, uniqueName } from '../kit/clients'
import { type Standalone, waitUntil } from '../kit/servers/index'
import { own } from '../kit/servers/own-server'
import { startServer } from '../kit/stand-in'
import { type ScriptSent, tapped } from '../kit/tapped-transport'
import { type Blocker, listeners, type Primitive } from './primitive'

type WithAttempts = Redisson & { attempts(): number; answered(): number }

/** One name of a primitive on a server that is the suite's alone; new for each test. */
class Scene {
  server!: Standalone
  redis!: Redis
  name!: string
  blocker!: Blocker

  constructor(private readonly primitive: Primitive) {}

  async begin(): Promise<void> {
    this.redis = await openRedis(this.server.url)
    this.name = uniqueName()
    this.blocker = this.primitive.blocker(this.redis, this.name)
  }

  lockOf(redisson: Redisson, name = this.name): RLock {
    return this.primitive.create(redisson, name)
  }

  open(internals: ClientInternals = {}, lockWatchdogTimeout = 30_000, url = this.server.url) {
    return createRedisson({ redis: url, lockWatchdogTimeout }, internals)
  }

  /** How many connections are subscribed to the channel, or how many channels of waiters are subscribed to. */
  listening(): Promise<number> {
    const { waitersListening } = this.primitive
    if (waitersListening) return waitersListening(this.redis, this.name)
    return listeners(this.redis, this.primitive.channel(this.name))
  }

  waits(): Promise<void> {
    return waitUntil('a waiter is subscribed', async () => (await this.listening()) >= 1)
  }

  /** A client whose nth attempt to acquire goes through `at`, all others straight to the server. */
  async withAttempt(
    n: number,
    at: (sent: ScriptSent) => Promise<unknown>,
    url?: string,
  ): Promise<WithAttempts> {
    const { acquire } = this.primitive.scripts
    let attempts: number | undefined
    let answered = 0
    const attempt = async (sent: ScriptSent) => {
      try {
        return await (attempts === n ? at(sent) : sent.pass())
      } finally {
        answered++
      }
    }
    const transport = tapped((sent) => {
      if (sent.name !== acquire || attempts === undefined) return sent.pass()
      attempts++
      return attempt(sent)
    })
    const redisson = await this.open({ transport }, undefined, url)
    // The server knows the scripts from here on, so an attempt is one command.
    await this.lockOf(redisson, uniqueName()).withLock(() => {})
    attempts = 0
    return Object.assign(redisson, { attempts: () => attempts!, answered: () => answered })
  }

  /** Until the attempts before and after the subscription have both failed. */
  async asleep(redisson: WithAttempts): Promise<void> {
    // A release before the second attempt reaches the server is no wake-up: the attempt is granted.
    await waitUntil('the second attempt is answered', () => redisson.answered() >= 2)
    await sleep(100)
  }
}

/** For the `describe` of a suite: connections are killed and users changed there, so each has a server of its own. */
export function sceneOf(primitive: Primitive): Scene {
  const scene = new Scene(primitive)
  scene.server = own(startServer)()
  beforeEach(() => scene.begin())
  return scene
}

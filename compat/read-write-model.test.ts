import * as fc from 'fast-check'
import { openRedis, uniqueName } from '../test/kit/clients'
import { describeWithJava, JavaError, type JavaPeer, ownJavaPeer } from '../test/kit/java'
import { answerOf, type ModelClient, OurClient } from '../test/kit/read-write-model/clients'
import type { Answer, Side } from '../test/kit/read-write-model/reference'
import { actions, Run, seed, WATCHDOG, wipe } from '../test/kit/read-write-model/run'
import { ownServer } from '../test/kit/servers/index'

const SEQUENCES = Number(process.env.RLOCK_SEQUENCES ?? 100)

/** A real Redisson as a client of the model. */
class JavaClient implements ModelClient {
  private constructor(
    private readonly peer: JavaPeer,
    private readonly owners: readonly string[],
  ) {}

  static async open(peer: JavaPeer): Promise<JavaClient> {
    return new JavaClient(peer, await Promise.all([0, 1].map((caller) => peer.thread(`c${caller}`).owner())))
  }

  get id(): string {
    return this.peer.clientId
  }

  fieldOf(caller: number, side: Side): string {
    return side === 'read' ? this.owners[caller]! : `${this.owners[caller]}:write`
  }

  tryLock(name: string, caller: number, type: Side, leaseTime: number | undefined): Promise<Answer> {
    return javaAnswer(this.thread(caller).tryLock(name, { type, leaseTime }))
  }

  unlock(name: string, caller: number, type: Side): Promise<Answer> {
    return javaAnswer(
      this.thread(caller)
        .unlock(name, { type })
        .then(() => {}),
    )
  }

  force(name: string, type: Side): Promise<Answer> {
    return javaAnswer(this.thread(0).forceUnlock(name, { type }))
  }

  isLocked(name: string, type: Side): Promise<boolean> {
    return this.thread(0).isLocked(name, { type })
  }

  holds(name: string, caller: number, type: Side): Promise<number> {
    return this.thread(caller).getHoldCount(name, { type })
  }

  async quiet(): Promise<void> {}

  async kill(): Promise<void> {}

  private thread(caller: number) {
    return this.peer.thread(`c${caller}`)
  }
}

function javaAnswer(operation: Promise<boolean | void>): Promise<Answer> {
  return answerOf(
    operation.catch((error) => {
      if (error instanceof JavaError && error.javaClass === 'java.lang.IllegalMonitorStateException')
        throw Object.assign(new Error(error.message), { name: 'IllegalMonitorStateError' })
      throw error
    }),
  )
}

describeWithJava('the read-write lock against a model, one of three clients being Java', () => {
  const server = ownServer()
  const peer = ownJavaPeer(server)

  it(`does the same in ${SEQUENCES} random sequences`, async () => {
    const redis = await openRedis(server.url)
    const java = await JavaClient.open(peer)
    const ours = [await OurClient.open(server.url, WATCHDOG), await OurClient.open(server.url, WATCHDOG)]
    const never = () => Promise.reject(new Error('not among the actions of this test'))
    try {
      await fc.assert(
        fc.asyncProperty(actions({ kill: false, time: false }), async (sequence) => {
          const name = uniqueName('model')
          try {
            await new Run(redis, name, [...ours, java], never, never, [2]).all(sequence)
          } finally {
            await wipe(redis, name)
          }
        }),
        { numRuns: SEQUENCES, seed: seed() },
      )
    } finally {
      await Promise.all(ours.map((client) => client.kill()))
    }
  })
})

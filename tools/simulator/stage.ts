import type { ScriptMachine } from '../../packages/testing/src/lua/script-machine'
import type { Stream } from '../../packages/testing/src/simulation/choices'
import { type ClientLinks, simulatedSource } from '../../packages/testing/src/simulation/connections'
import { SimulatedServer } from '../../packages/testing/src/simulation/server'
import type { World } from '../../packages/testing/src/simulation/world'
import { Redisson } from '../../src/redisson'
import { JavaClient } from './java-model/client'
import { SimulatedJavaPort } from './java-port'
import type { Recorder } from './recorder'
import type { Caller, Plan, Scene, Settings, StageClient } from './scene'

export interface LiveClient extends StageClient {
  /** A model of a Java client. It has no `redisson`. */
  readonly java?: JavaClient
  /** The connections to each server. */
  readonly links: ClientLinks[]
  isAlive: boolean
  /** Its shutdown has begun. */
  isClosing?: boolean
  /** How many of its callers have not ended. */
  busy: number
}

/** The clients, callers and servers of one run. */
export class Stage {
  readonly servers: SimulatedServer[]
  readonly clients: LiveClient[] = []
  readonly settings: Settings
  readonly plan: Plan
  private created = 0
  private count = 0
  /** How many killed clients have no successor yet. */
  private replacing = 0
  private whenIdle: (() => void) | undefined

  constructor(
    readonly world: World,
    readonly scene: Scene,
    readonly recorder: Recorder,
    machine: ScriptMachine,
  ) {
    const choices = world.choices.stream('settings')
    this.settings = drawSettings(scene, choices)
    this.plan = scene.setUp(choices)
    const { hasReplica } = this.settings
    this.servers = Array.from(
      { length: scene.servers ?? 1 },
      (_, index) => new SimulatedServer(world, `server ${index + 1}`, machine, { hasReplica }),
    )
    recorder.objects.push(...this.plan.objects)
  }

  /** Connects a client in a process of its own. Its callers begin with `play`. */
  async open(): Promise<LiveClient> {
    const { world, servers, settings } = this
    const name = `c${++this.created}`
    const skew = world.choices.stream(`clock ${name}`)
    const process = world.process(name, {
      drift: [0, 0.001, -0.001][skew.choose(3)]!,
      wall: [0, 3_600_000, -3_600_000][skew.choose(3)]!,
    })
    const links: ClientLinks[] = []
    const redissons = await Promise.all(
      servers.map((server, index) =>
        Redisson.create({
          redis: simulatedSource(server, process, (opened) => {
            links[index] = opened
          }),
          lockWatchdogTimeout: settings.watchdogTimeout,
        }),
      ),
    )
    for (const redisson of redissons) redisson.on('error', () => {})
    const client = { name, process, redissons, redisson: redissons[0]!, links, isAlive: true, busy: 0 }
    this.recorder.client(name, 'created')
    this.clients.push(client)
    return client
  }

  /** A supervisor starts a process again that found no server. */
  private async openAtLast(): Promise<LiveClient> {
    for (;;)
      try {
        return await this.open()
      } catch {
        await new Promise<void>((resolve) => void this.world.in(500, undefined, resolve))
      }
  }

  /** How many Java clients the run has. */
  javaClients(): number {
    if (!this.plan.javaCaller) return 0
    if (this.scene.clients) return this.scene.clients.java
    return [0, 1, 2][this.world.choices.stream('java').weigh([6, 3, 1])]!
  }

  /** Connects a Java client. Its clock is that of the server, as that of a machine with NTP. */
  async openJava(): Promise<LiveClient> {
    const { world, settings } = this
    const server = this.servers[0]!
    const name = `j${++this.created}`
    const process = world.process(name)
    process.stepWallClock(server.time - process.now().wall)
    const port = new SimulatedJavaPort(server, process)
    await port.connect()
    const java = new JavaClient(port, {
      ...{ clientId: port.newClientId(), lockWatchdogTimeout: settings.watchdogTimeout },
      fairLockWaitTimeout: 60_000,
    })
    const { commands, messages } = port
    const client: LiveClient = {
      ...{ name, process, java, redissons: [], links: [{ commands, messages, acknowledged: undefined }] },
      ...{ isAlive: true, busy: 0 },
      get redisson(): Redisson {
        throw new Error('a Java client has no Redisson of this package')
      },
    }
    this.recorder.client(name, 'created', 'java')
    this.clients.push(client)
    return client
  }

  /** Starts the callers of a client. */
  play(client: LiveClient): void {
    for (let index = 0; index < this.settings.callers; index++) {
      client.busy++
      this.life(client, index)
        .catch((error) => this.world.failed(error))
        .finally(() => {
          client.busy--
          this.ended()
        })
    }
  }

  private life(client: LiveClient, index: number): Promise<void> {
    const { java, process } = client
    const { plan } = this
    if (!java) return plan.caller(this.caller(client, index))
    const now = () => process.now().wall
    return plan.javaCaller!({ ...this.common(client, index), client, java, now })
  }

  caller(client: LiveClient, index: number): Caller {
    return { ...this.common(client, index), client, redisson: client.redisson }
  }

  private common(client: LiveClient, index: number) {
    const { world, recorder, settings, servers } = this
    const name = `${client.name}.${index + 1}`
    return {
      ...{ name, recorder, settings, servers },
      choices: world.choices.stream(`caller ${name}`),
      threadId: () => index + 1,
      count: () => ++this.count,
      sleep: (ms: number) => client.process.sleep(ms),
    }
  }

  /** Resolves when all callers of living clients have ended. */
  async idle(): Promise<void> {
    while (this.replacing > 0 || this.clients.some(({ isAlive, busy }) => isAlive && busy > 0))
      await new Promise<void>((resolve) => {
        this.whenIdle = resolve
      })
  }

  private ended() {
    const { whenIdle } = this
    this.whenIdle = undefined
    whenIdle?.()
  }

  /** Kills a client. Call `replace` for a new one. */
  kill(client: LiveClient): void {
    client.isAlive = false
    client.process.kill()
    this.recorder.client(client.name, 'killed')
    this.replacing++
  }

  /** Its callers go on, and learn of it. Call `replace` for a new client. */
  async shutDown(client: LiveClient, timeout: number): Promise<void> {
    const { name, redissons } = client
    this.replacing++
    this.recorder.client(name, 'shut-down')
    await Promise.all(redissons.map((redisson) => redisson.shutdown({ timeout })))
    if (client.isAlive) this.recorder.client(name, 'closed')
  }

  async replace(): Promise<void> {
    try {
      this.play(await this.openAtLast())
    } finally {
      this.replacing--
      this.ended()
    }
  }
}

function drawSettings(scene: Scene, choices: Stream): Settings {
  const watchdogTimeout = choices.pick([3_000, 1_000, 30_000])
  return {
    clients: scene.clients?.ours ?? [2, 3, 1, 4][choices.weigh([4, 3, 1, 1])]!,
    callers: [2, 3, 1, 6][choices.weigh([4, 3, 2, 1])]!,
    sections: [4, 10, 20, 40][choices.weigh([1, 3, 3, 2])]!,
    watchdogTimeout,
    leases: [1_000, 200, 50, 5_000],
    hasReplica: (scene.mayHaveReplica ?? true) && choices.happens(0.2),
  }
}

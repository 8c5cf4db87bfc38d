import {
  type RedisNode,
  type Standalone,
  startProxy,
  type TcpProxy,
  waitUntil,
  withClient,
} from '../../../kit/servers/index'
import { info } from '../../../kit/servers/with-client'
import { JAVA } from './rights'

const WRITES_PAUSED_MS = 10_000

/** A server behind a name, which is the address of a proxy. The name can move to a second server that has the same data. */
export class MovableServer implements RedisNode {
  readonly host: string
  readonly port: number
  readonly url: string

  private constructor(
    private readonly name: TcpProxy,
    private current: Standalone,
    private spare: Standalone,
  ) {
    ;({ host: this.host, port: this.port, url: this.url } = name)
  }

  static async behindName(current: Standalone, spare: Standalone): Promise<MovableServer> {
    return new MovableServer(await startProxy(current), current, spare)
  }

  kill: RedisNode['kill'] = (signal) => this.current.kill(signal)
  pause: RedisNode['pause'] = () => this.current.pause()
  resume: RedisNode['resume'] = () => this.current.resume()
  restart: RedisNode['restart'] = (options) => this.current.restart(options)
  log: RedisNode['log'] = () => this.current.log()

  /**
   * Moves the name. No write is lost, and the old server lives on as a primary. It closes the connections of commands, and keeps those
   * of the subscribers, but for Java: Redisson would leave them there.
   */
  async move(): Promise<void> {
    const { current, spare } = this
    const hasAllUntil = (offset: number) =>
      waitUntil('the other server has all writes', () =>
        withClient(spare, async (other) => {
          const replication = await info(other, 'replication')
          const isUp = replication.get('master_link_status') === 'up'
          return isUp && Number(replication.get('slave_repl_offset')) >= offset
        }),
      )
    await withClient(spare, (other) => other.replicaof(current.host, current.port))
    await hasAllUntil(0)
    await withClient(current, async (redis) => {
      await redis.call('CLIENT', 'PAUSE', WRITES_PAUSED_MS, 'WRITE')
      await hasAllUntil(Number((await info(redis, 'replication')).get('master_repl_offset')))
      await withClient(spare, (other) => other.replicaof('NO', 'ONE'))
      this.name.pointTo(spare)
      ;[this.current, this.spare] = [spare, current]
      await redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
      await redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub', 'USER', JAVA)
      await redis.call('CLIENT', 'UNPAUSE')
    })
  }

  async stop(): Promise<void> {
    await this.name.stop()
    // Both run on one machine, which ends with either of them.
    await this.current.stop()
  }
}

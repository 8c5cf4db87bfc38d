import { type Address, type CommandPredicate, sameAddress, startProxy, type TcpProxy } from '../../servers'
import type { Route, Topology } from './topology'

/** All ways of one worker to the servers, which can be broken without harm to the others. */
export class Network {
  private constructor(
    readonly route: Route,
    private readonly proxies: readonly TcpProxy[],
  ) {}

  static async open(topology: Topology): Promise<Network> {
    const proxies = await Promise.all(topology.nodes.map((node) => startProxy(node)))
    const proxied = (address: Address) =>
      proxies[topology.nodes.findIndex((node) => sameAddress(node, address))]!
    return new Network(topology.route(proxied), proxies)
  }

  cut(): void {
    for (const proxy of this.proxies) proxy.cut()
  }

  halfClose(end: 'client' | 'server'): void {
    for (const proxy of this.proxies) proxy.halfClose(end)
  }

  stall(): void {
    for (const proxy of this.proxies) proxy.stall()
  }

  stallReplies(): void {
    for (const proxy of this.proxies) proxy.stallReplies()
  }

  resume(): void {
    for (const proxy of this.proxies) proxy.resume()
  }

  delay(ms: number): void {
    for (const proxy of this.proxies) proxy.delay(ms)
  }

  refuse(): void {
    for (const proxy of this.proxies) proxy.refuse()
  }

  async accept(): Promise<void> {
    await Promise.all(this.proxies.map((proxy) => proxy.accept()))
  }

  /** The next reply on each way is lost, once a command matches. */
  dropNextReply(matches: CommandPredicate): void {
    for (const proxy of this.proxies) void proxy.dropNextReply(matches)
  }

  async close(): Promise<void> {
    await Promise.all(this.proxies.map((proxy) => proxy.stop()))
  }
}

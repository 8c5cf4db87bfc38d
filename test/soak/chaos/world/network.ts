import {
  type Address,
  type CommandPredicate,
  sameAddress,
  startProxy,
  type TcpProxy,
} from '../../../kit/servers/index'
import type { Login, Route, Topology } from './topology'

/** All ways of one worker to the servers, which can be broken without harm to the others. */
export class Network {
  private constructor(
    readonly route: Route,
    private readonly proxies: readonly TcpProxy[],
    private readonly distanceMs: number,
  ) {
    this.delay(0)
  }

  /** The distance is how long everything takes on each way though nothing is broken. */
  static async open(topology: Topology, login: Login, distanceMs: number): Promise<Network> {
    const proxies = await Promise.all(topology.nodes.map((node) => startProxy(node)))
    const proxied = (address: Address) =>
      proxies[topology.nodes.findIndex((node) => sameAddress(node, address))]!
    return new Network(topology.route(proxied, login), proxies, distanceMs)
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

  /** Adds so much to each way. */
  delay(ms: number): void {
    for (const proxy of this.proxies) proxy.delay(this.distanceMs + ms)
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

  /** All connections break for the worker; what a stall holds back of its commands arrives this much later. */
  deliverLate(ms: number): void {
    for (const proxy of this.proxies) proxy.deliverLate(ms)
  }

  /** What is to arrive late is lost. */
  dropLate(): void {
    for (const proxy of this.proxies) proxy.dropLate()
  }

  async close(): Promise<void> {
    await Promise.all(this.proxies.map((proxy) => proxy.stop()))
  }
}

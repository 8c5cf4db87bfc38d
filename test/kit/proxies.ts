import { closedAfterEach } from './closing'
import { type Address, startProxy, type TcpProxy } from './servers/index'

const opened: TcpProxy[] = []

/** A proxy before the server, stopped after the test. */
export async function openProxy(target: Address): Promise<TcpProxy> {
  const proxy = await startProxy(target)
  opened.push(proxy)
  return proxy
}

/** Called after each test; before that, where a suite ends the server behind them. */
export async function closeProxies(): Promise<void> {
  await Promise.all(opened.splice(0).map((proxy) => proxy.stop()))
}
closedAfterEach('proxy', closeProxies)

import { type Standalone, startStandalone } from '../../../kit/servers/index'

/** Independent servers for a RedLock, none without one. */
export async function startRedServers(count: number): Promise<Standalone[]> {
  return await Promise.all(Array.from({ length: count }, () => startStandalone()))
}

import { inMemoryRedis, serverOf } from '../packages/testing/src/in-memory-redis'
import { Redisson } from '../src'
import { contend } from './contend'
import type { Commands } from './critical-section'
import { startToMeasure } from './measuring'
import type { OnCommand, Stage, Worker } from './stage'

/** The server of @rlock/testing, and clients in this process: for a machine that has only Node. */
export function inMemoryStage(onCommand: OnCommand): Stage {
  const memory = inMemoryRedis()
  const now = () => performance.timeOrigin + performance.now()
  serverOf(memory).onCommand = (name, words) => onCommand({ at: now(), args: [name, ...words] })
  const clients: Redisson[] = []
  let logLength = 0
  const commands: Commands = {
    get: async (key) => memory.call('GET', key) as string | null,
    set: async (key, value) => memory.call('SET', key, value),
    // It has no streams. The record is all that the log is for.
    xadd: async (...args) => {
      logLength++
      onCommand({ at: now(), args: ['xadd', ...args] })
    },
  }
  return {
    server: 'in memory, in this process: the real scripts, in Lua 5.1',
    url: undefined,
    nodes: 'clients in one process',
    setting: {
      record: "the in-memory server's record of all commands in the order it ran them",
      withoutJava: 'One process without a Redis: this shows nothing about several processes, nor about Java',
    },
    async startNode(setup) {
      const redisson = await Redisson.create({ redis: memory })
      clients.push(redisson)
      // All clients are in one process, which has one scrape.
      const scrape = setup.metrics && clients.length === 1 ? startToMeasure() : undefined
      const run = (durationMs: number) => contend(redisson, commands, setup, durationMs)
      const worker: Worker = { run, stderr: '', scrape: async () => scrape?.() }
      return { worker, clientId: redisson.getId() }
    },
    now,
    async caughtUp() {},
    finalState: async ({ counter, twin }) => ({
      counter: Number(memory.call('GET', counter)),
      twin: Number(memory.call('GET', twin)),
      logLength,
    }),
    async close() {
      await Promise.all(clients.map((redisson) => redisson.shutdown()))
    },
  }
}

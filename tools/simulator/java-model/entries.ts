import type { JavaPort } from './port'

/** What the threads of one client that wait on one channel share. */
export interface Entry {
  /** Wake-ups that no thread has used yet. */
  wakeUps: number
  readonly asleep: (() => void)[]
  /** Of a latch: whether waiters pass. */
  isOpen: boolean
  /** How many threads use it. */
  users: number
}

export type OnMessage = (entry: Entry, message: string) => void

/** Wakes one thread, or the next that is about to sleep. */
export function wakeOne(entry: Entry): void {
  const next = entry.asleep.shift()
  if (next) next()
  else entry.wakeUps++
}

/** `0` wakes one thread; `1` wakes those that sleep at this moment, and no other. */
export const lockMessage: OnMessage = (entry, message) => {
  if (message === '0') wakeOne(entry)
  else for (const thread of entry.asleep.splice(0)) thread()
}

/** A count of free permits wakes as many threads, whatever they need. */
export const permitsMessage: OnMessage = (entry, message) => {
  for (let left = Math.min(entry.users, Number(message)); left > 0; left--) wakeOne(entry)
}

export const latchMessage: OnMessage = (entry, message) => {
  entry.isOpen = message === '0'
  if (entry.isOpen) for (const thread of entry.asleep.splice(0)) thread()
}

/** One subscription for each channel, with what its threads share; it ends with the last thread. */
export class Entries {
  private readonly entries = new Map<string, { readonly entry: Entry; readonly ready: Promise<void> }>()

  constructor(private readonly port: JavaPort) {}

  stats(): Record<string, number> {
    const all = [...this.entries.values()].map(({ entry }) => entry)
    const sum = (of: (entry: Entry) => number) => all.reduce((total, entry) => total + of(entry), 0)
    return {
      channels: all.length,
      asleep: sum(({ asleep }) => asleep.length),
      ...{ wakeUps: sum(({ wakeUps }) => wakeUps), users: sum(({ users }) => users) },
    }
  }

  /** Runs `fn` while the channel is subscribed. */
  async listening<T>(channel: string, onMessage: OnMessage, fn: (entry: Entry) => Promise<T>): Promise<T> {
    let used = this.entries.get(channel)
    if (!used) {
      const entry: Entry = { wakeUps: 0, asleep: [], isOpen: false, users: 0 }
      const ready = this.port.subscribe(channel, (message) => onMessage(entry, message))
      ready.catch(() => {})
      used = { entry, ready }
      this.entries.set(channel, used)
    }
    const { entry, ready } = used
    entry.users++
    try {
      await ready
      return await fn(entry)
    } finally {
      entry.users--
      if (entry.users === 0 && this.entries.get(channel) === used) {
        this.entries.delete(channel)
        void this.port.unsubscribe(channel).catch(() => {})
      }
    }
  }

  /** Sleeps until a wake-up, or for so long. */
  sleep(entry: Entry, ms: number | undefined): Promise<void> {
    if (entry.wakeUps > 0) {
      entry.wakeUps--
      return Promise.resolve()
    }
    return new Promise((resolve) => {
      const timer = ms === undefined ? undefined : this.port.after(ms, () => wake(true))
      const wake = (isLate = false) => {
        if (isLate) entry.asleep.splice(entry.asleep.indexOf(thread), 1)
        else timer?.cancel()
        resolve()
      }
      const thread = () => wake()
      entry.asleep.push(thread)
    })
  }
}

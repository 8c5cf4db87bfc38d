import { once } from 'node:events'
import type { Answer, FromClient, Questions } from '../messages'

const waiting = new Map<number, (answer: unknown) => void>()
let asked = 0

/** Listens to the process that started this one; to be called before anything is measured. */
export function listenToParent(): void {
  process.on('message', ({ id, answer }: Answer) => {
    waiting.get(id)?.(answer)
    waiting.delete(id)
  })
  process.once('disconnect', orphaned)
}

// No process is left to report the result to.
const orphaned = () => process.exit(1)

export function tell(message: FromClient): void {
  process.send!(message)
}

/** Has the process that started this one look at the server: looking from here would be in the figures. */
export async function ask<Q extends keyof Questions>(question: Q): Promise<Questions[Q]> {
  const id = ++asked
  const answer = new Promise((resolve) => waiting.set(id, resolve))
  tell({ kind: 'ask', id, question })
  return (await answer) as Questions[Q]
}

/** Tells how far the work is, twice a second, until the returned function is called. */
export function reporting(progress: () => string): () => void {
  const report = () => tell({ kind: 'progress', text: progress() })
  report()
  const timer = setInterval(report, 500)
  return () => {
    clearInterval(timer)
    report()
  }
}

export async function leaveParent(): Promise<void> {
  process.off('disconnect', orphaned)
  const left = once(process, 'disconnect')
  process.disconnect()
  await left
}

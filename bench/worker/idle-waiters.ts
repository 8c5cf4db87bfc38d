import { setTimeout as sleep } from 'node:timers/promises'
import type { SubjectClient } from '../subjects/subject'
import { epochNow } from './epoch'
import { heapAfterCollecting } from './heap'
import type { IdleWaitersResult, IdleWaitersWork } from './protocol'

export function prepareIdleWaiters(client: SubjectClient, work: IdleWaitersWork) {
  return async (start: number): Promise<IdleWaitersResult> => {
    await sleep(Math.max(0, start - epochNow()))
    const before = heapAfterCollecting()
    let ended = 0
    const errorMessages: string[] = []
    for (let index = 0; index < work.callers; index++)
      client
        .caller(work.locks[index % work.locks.length]!)
        .acquire()
        .catch((error) => {
          if (errorMessages.length < 3) errorMessages.push(String(error))
        })
        .finally(() => ended++)
    await sleep(start + work.warmupMs + work.measureMs - epochNow())
    return { heapBytes: heapAfterCollecting() - before, ended, errorMessages }
  }
}

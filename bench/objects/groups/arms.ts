import { type CallersSetup, measureCallers } from '../../driver/callers'
import type { Subject } from '../../subjects/catalogue'
import type { Arm } from './group'

/** Callers that take turns on the one server. */
export function turns(
  name: string,
  title: string,
  subject: Subject,
  setup: Omit<CallersSetup, 'locks'>,
): Arm {
  return {
    name,
    title,
    subject,
    measure: (measuring) => measureCallers(subject, { ...setup, locks: 1 }, measuring.single, measuring),
  }
}

/** One caller takes a lock of so many members, each on a server of its own. */
export function members(
  name: string,
  title: string,
  subject: Subject,
  { object, servers, stalled = false }: { object: 'multi' | 'red'; servers: number; stalled?: boolean },
): Arm {
  return {
    name,
    title,
    subject,
    async measure(measuring) {
      const place = await measuring.several(servers)
      const setup: CallersSetup = { ...ONE_CALLER, locks: 1, object, ...(stalled && { stall: place.stall }) }
      return measureCallers(subject, setup, stalled ? place.butLast : place, measuring)
    },
  }
}

export const ONE_CALLER = { processes: 1, callers: 1 }

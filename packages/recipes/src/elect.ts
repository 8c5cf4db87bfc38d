import type { Redisson } from 'rlock'
import { argumentsReader, checkOptions } from 'rlock/internal'
import { Candidate } from './candidate'
import type { Election, ElectOptions } from './election'

/**
 * Stands for election: of all candidates with this name, in all processes, one leads until it resigns, ends or is lost. Then
 * another one does.
 *
 * The leader holds `redisson.getFencedLock(name)`, so a service in Java takes part by holding that lock. After `kill -9` the
 * next one leads within `lockWatchdogTimeout`. `shutdown()` of the client hands over as `signal` does.
 *
 * The candidacy goes on after an outage of Redis. It ends with an error that stays, such as a missing right: `lead()` rejects
 * with it, or without `lead()` the event `error` is raised.
 * @throws TypeError for bad arguments.
 * @example
 * ```ts
 * import { elect } from '@rlock/recipes'
 * const election = elect(redisson, 'scheduler', { signal: stopping.signal })
 * await election.lead(async ({ term, signal }) => schedule(term, signal))
 * ```
 */
export function elect(redisson: Redisson, name: string, options: ElectOptions = {}): Election {
  checkOptions(options, ['signal', 'label', 'onElected', 'candidate'])
  const { label, onElected, signal, candidate } = options
  readSignal({ signal })
  if (label !== undefined && typeof label !== 'string') throw new TypeError('label must be a string')
  if (onElected !== undefined && typeof onElected !== 'function')
    throw new TypeError('onElected must be a function')
  if (candidate !== undefined && typeof candidate !== 'boolean')
    throw new TypeError('candidate must be a boolean')
  return new Candidate(redisson, name, options)
}

const readSignal = argumentsReader<Pick<ElectOptions, 'signal'>>(['signal'])

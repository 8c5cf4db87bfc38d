import type { Redisson } from '../../../src/redisson'
import type { JavaLockKind } from '../java-model/client'
import type { ObjectKind, SimulatedObject } from '../judge/history'
import { type AnyHold, type Holdable, lockSection } from '../lock-section'
import type { Scene } from '../scene'
import { javaLockSection, javaThreads } from './java'

interface Kind {
  readonly name: string
  readonly about: string
  readonly kind: ObjectKind
  lock(redisson: Redisson, name: string): Holdable
  readonly mayReenter?: boolean
  readonly mayScope?: boolean
  readonly token?: (hold: AnyHold) => number
  /** How Java has it, where it has it alike. */
  readonly java?: JavaLockKind
}

/** A scene in which all callers take one or two locks of one kind, in every way. */
export function sectionsOf({ name, about, kind, lock, java, ...options }: Kind): Scene {
  return {
    name,
    about,
    setUp(choices) {
      const names = choices.pick([['one'], ['one', 'two']])
      const objects: SimulatedObject[] = names.map((each) => ({ kind, name: each }))
      return {
        objects,
        ...(java
          ? {
              javaCaller: javaThreads((caller) =>
                javaLockSection(caller, caller.choices.pick(objects), java),
              ),
            }
          : {}),
        async caller(caller) {
          const { settings, redisson, choices: own } = caller
          for (let section = 0; section < settings.sections; section++) {
            const object = own.pick(objects)
            await lockSection(caller, object, lock(redisson, object.name), options)
            await caller.sleep(own.pick([0, 1, 5]))
          }
        },
      }
    },
  }
}

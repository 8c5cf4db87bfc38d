import { Redisson } from 'rlock'
import {
  type Admission,
  type Client,
  clientOf,
  keyOf,
  prefixed,
  quote,
  type Renewal,
  type Script,
  type WaitTarget,
} from 'rlock/internal'
import { script } from './script'

/** A kind of object of this package. Its scripts and its keys have the name of the kind. */
export interface Kind {
  /** For events and lists. */
  readonly kind: string
  /** For messages, before the name. */
  readonly what: string
  /** How its keys begin. */
  readonly prefix: string
  /** Several owners have parts of it at the same time. */
  readonly shared: boolean
  readonly renewal: Renewal
  /** Ends what an owner has. Answers 0 where it had nothing, and 2 where the server refused the message. */
  readonly release: Script<number>
  admission(): Admission
}

/** Renews and releases by two scripts that take the owners. */
export function byOwners(folder: 'slots' | 'once'): Pick<Kind, 'renewal' | 'release'> {
  const renew = script(`${folder}/renew`, (raw) => raw as readonly number[])
  return {
    release: script(`${folder}/release`, Number),
    renewal: {
      renew: (scripts, leases, duration, acknowledged) => {
        const keys = leases.map(({ leased }) => leased.key)
        return scripts.run(renew, keys, [duration, ...leases.map((each) => each.ownerField)], acknowledged)
      },
    },
  }
}

/** The client of the caller; throws TypeError for anything else. */
export function checkedClient(redisson: Redisson): Client {
  if (!(redisson instanceof Redisson))
    throw new TypeError('the first argument must be a client of Redisson.create()')
  return clientOf(redisson)
}

/** An object whose owners have leases: its names in its client and in Redis. */
export class LeasedObject {
  readonly key: string
  readonly target: WaitTarget

  constructor(
    readonly client: Client,
    readonly kind: Kind,
    readonly name: string,
  ) {
    this.key = prefixed(kind.prefix, keyOf(client, name))
    const { key } = this
    const objectId = `${kind.kind} ${key}`
    this.target = {
      ...{ kind: kind.kind, name, key, objectId, relatedIds: [objectId] },
      subject: `${kind.what} ${quote(name)}`,
      channel: prefixed('channel', key),
      takesTurns: false,
      admission: kind.admission,
    }
  }

  /** The channel and the command by which its scripts publish. */
  get messages(): readonly [channel: string, publish: string] {
    return [this.target.channel, this.client.publishCommand]
  }

  /** Releases what an owner has; resolves with whether it had anything, as far as the client can know. */
  async release(owner: string): Promise<boolean> {
    const { client, kind, key } = this
    const call = client.scripts.run(kind.release, [key], [owner, ...this.messages])
    const { value, hasLostCopy } = await call.answer
    client.queues.changed(this.target, value)
    return value > 0 || hasLostCopy
  }
}

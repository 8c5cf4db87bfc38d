import { RENEW } from './lock-scripts'
import { JavaLock } from './locks'
import { prefixed, suffixed } from './names'
import {
  READ_ACQUIRE,
  READ_RELEASE,
  READ_RENEW,
  SIDE_FORCE_RELEASE,
  WRITE_ACQUIRE,
  WRITE_RELEASE,
} from './read-write-scripts'

const TIMEOUT = ':rwlock_timeout'

abstract class Side extends JavaLock {
  protected channelFor(): string {
    return prefixed('redisson_rwlock', this.name)
  }

  protected readTimeout(threadId: number): string {
    return suffixed(this.name, `${this.context.clientId}:${threadId}${TIMEOUT}`)
  }

  protected writeField(threadId: number): string {
    return `${this.context.clientId}:${threadId}:write`
  }
}

export class ReadLock extends Side {
  protected tryAcquire(threadId: number): Promise<unknown> {
    const args = [this.lease, this.ownerOf(threadId), this.writeField(threadId)]
    return this.run(READ_ACQUIRE, [this.name, this.readTimeout(threadId)], args)
  }

  protected release(threadId: number): Promise<unknown> {
    const keys = [this.name, this.channelFor(), this.readTimeout(threadId)]
    return this.run(READ_RELEASE, keys, [this.ownerOf(threadId), suffixed(this.name, ''), TIMEOUT])
  }

  protected forceRelease(): Promise<unknown> {
    return this.run(SIDE_FORCE_RELEASE, [this.name, this.channelFor()], ['read', '0'])
  }

  protected renew(threadId: number): Promise<unknown> {
    const args = [this.context.lockWatchdogTimeout, this.ownerOf(threadId)]
    return this.run(READ_RENEW, [this.name, this.readTimeout(threadId)], args)
  }

  protected override get renewedKey(): string {
    return `read ${this.name}`
  }

  override async isLocked(): Promise<boolean> {
    const { fields } = await this.state()
    const mode = fields.get('mode')
    return mode === 'read' || (mode === 'write' && fields.size > 2)
  }
}

export class WriteLock extends Side {
  override ownerOf(threadId: number): string {
    return this.writeField(threadId)
  }

  protected tryAcquire(threadId: number): Promise<unknown> {
    return this.run(WRITE_ACQUIRE, [this.name], [this.lease, this.ownerOf(threadId)])
  }

  protected release(threadId: number): Promise<unknown> {
    return this.run(WRITE_RELEASE, [this.name, this.channelFor()], [this.lease, this.ownerOf(threadId)])
  }

  protected forceRelease(): Promise<unknown> {
    return this.run(SIDE_FORCE_RELEASE, [this.name, this.channelFor()], ['write', '1'])
  }

  protected renew(threadId: number): Promise<unknown> {
    return this.run(RENEW, [this.name], [this.context.lockWatchdogTimeout, this.ownerOf(threadId)])
  }

  override async isLocked(): Promise<boolean> {
    return (await this.state()).fields.get('mode') === 'write'
  }
}

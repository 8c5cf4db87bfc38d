import { prefixed, suffixed } from './context'
import { JavaLock } from './locks'
import { RENEW } from './scripts'

// One hash for both sides: `mode`, and a field for each holder. Each level of a read hold has a key of its own beside it.

/** KEYS: lock, prefix of the read timeout keys of this thread. ARGV: lease, owner, field of its write hold. */
export const READ_ACQUIRE = `
local mode = redis.call('hget', KEYS[1], 'mode')
local isOurs = mode == 'write' and redis.call('hexists', KEYS[1], ARGV[3]) == 1
if mode and mode ~= 'read' and not isOurs then return redis.call('pttl', KEYS[1]) end
local lease = tonumber(ARGV[1])
if not mode then redis.call('hset', KEYS[1], 'mode', 'read') end
local level = redis.call('hincrby', KEYS[1], ARGV[2], 1)
redis.call('set', KEYS[2] .. ':' .. level, 1, 'px', lease)
redis.call('pexpire', KEYS[1], math.max(lease, redis.call('pttl', KEYS[1])))
return nil`

/** KEYS: lock. ARGV: lease, field of the write hold. */
export const WRITE_ACQUIRE = `
local mode = redis.call('hget', KEYS[1], 'mode')
local isOurs = mode == 'write' and redis.call('hexists', KEYS[1], ARGV[2]) == 1
if mode and not isOurs then return redis.call('pttl', KEYS[1]) end
local left = mode and redis.call('pttl', KEYS[1]) or 0
redis.call('hset', KEYS[1], 'mode', 'write')
redis.call('hincrby', KEYS[1], ARGV[2], 1)
redis.call('pexpire', KEYS[1], left + tonumber(ARGV[1]))
return nil`

/** KEYS: lock, channel, prefix of the read timeout keys of this thread. ARGV: owner, prefix of those of all, their suffix. */
export const READ_RELEASE = `
local mode = redis.call('hget', KEYS[1], 'mode')
if not mode then
  redis.call('publish', KEYS[2], '0')
  return nil
end
if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then return nil end
local levels = redis.call('hincrby', KEYS[1], ARGV[1], -1)
if levels == 0 then redis.call('hdel', KEYS[1], ARGV[1]) end
redis.call('del', KEYS[3] .. ':' .. (levels + 1))
if redis.call('hlen', KEYS[1]) > 1 then
  local longest = -3
  local fields = redis.call('hgetall', KEYS[1])
  for i = 1, #fields, 2 do
    local count = tonumber(fields[i + 1])
    for level = 1, count or 0 do
      local left = redis.call('pttl', ARGV[2] .. fields[i] .. ARGV[3] .. ':' .. level)
      longest = math.max(longest, left)
    end
  end
  if longest > 0 then
    redis.call('pexpire', KEYS[1], longest)
    return 0
  end
  if mode == 'write' then return 0 end
end
redis.call('del', KEYS[1])
redis.call('publish', KEYS[2], '0')
return 1`

/** KEYS: lock, channel. ARGV: lease, field of the write hold. */
export const WRITE_RELEASE = `
local mode = redis.call('hget', KEYS[1], 'mode')
if not mode then
  redis.call('publish', KEYS[2], '1')
  return nil
end
if mode ~= 'write' or redis.call('hexists', KEYS[1], ARGV[2]) == 0 then return nil end
if redis.call('hincrby', KEYS[1], ARGV[2], -1) > 0 then
  redis.call('pexpire', KEYS[1], ARGV[1])
  return 0
end
redis.call('hdel', KEYS[1], ARGV[2])
if redis.call('hlen', KEYS[1]) > 1 then
  redis.call('hset', KEYS[1], 'mode', 'read')
else
  redis.call('del', KEYS[1])
  redis.call('publish', KEYS[2], '1')
end
return 1`

/** KEYS: lock, channel. ARGV: mode, message. */
export const SIDE_FORCE_RELEASE = `
if redis.call('hget', KEYS[1], 'mode') ~= ARGV[1] then return 0 end
redis.call('del', KEYS[1])
redis.call('publish', KEYS[2], ARGV[2])
return 1`

/** KEYS: lock, prefix of the read timeout keys of this thread. ARGV: lease, owner. */
export const READ_RENEW = `
local levels = redis.call('hget', KEYS[1], ARGV[2])
if not levels then return 0 end
redis.call('pexpire', KEYS[1], ARGV[1])
for level = 1, tonumber(levels) do redis.call('pexpire', KEYS[2] .. ':' .. level, ARGV[1]) end
return 1`

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

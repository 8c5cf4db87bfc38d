// What Java's scripts do to the keyspace, in scripts of our own. The facts are those of the wire protocol; `compat/` compares
// each with the real peer. All answer the remaining TTL where another owner holds the lock, and nil where it was acquired.

/** KEYS: lock. ARGV: lease, owner. */
export const ACQUIRE = `
local isFree = redis.call('exists', KEYS[1]) == 0
if not isFree and redis.call('hexists', KEYS[1], ARGV[2]) == 0 then
  return redis.call('pttl', KEYS[1])
end
redis.call('hincrby', KEYS[1], ARGV[2], 1)
redis.call('pexpire', KEYS[1], ARGV[1])
return nil`

/** KEYS: lock, channel. ARGV: lease, owner. Answers nil: not held, 0: still held, 1: released. */
export const RELEASE = `
if redis.call('hexists', KEYS[1], ARGV[2]) == 0 then return nil end
if redis.call('hincrby', KEYS[1], ARGV[2], -1) > 0 then
  redis.call('pexpire', KEYS[1], ARGV[1])
  return 0
end
redis.call('del', KEYS[1])
redis.call('publish', KEYS[2], '0')
return 1`

/** KEYS: lock, channel. */
export const FORCE_RELEASE = `
local existed = redis.call('del', KEYS[1])
if existed == 1 then redis.call('publish', KEYS[2], '0') end
return existed`

/** KEYS: lock. ARGV: lease, owner. */
export const RENEW = `
if redis.call('hexists', KEYS[1], ARGV[2]) == 0 then return 0 end
redis.call('pexpire', KEYS[1], ARGV[1])
return 1`

/** KEYS: lock. Answers its fields and values, and its TTL. */
export const STATE = `return { redis.call('hgetall', KEYS[1]), redis.call('pttl', KEYS[1]) }`

/** KEYS: lock, token. ARGV: lease, owner. Answers the TTL, or -1 and the token. */
export const FENCED_ACQUIRE = `
local isFree = redis.call('exists', KEYS[1]) == 0
if not isFree and redis.call('hexists', KEYS[1], ARGV[2]) == 0 then
  return { redis.call('pttl', KEYS[1]), -1 }
end
local token = redis.call('incr', KEYS[2])
redis.call('hincrby', KEYS[1], ARGV[2], 1)
redis.call('pexpire', KEYS[1], ARGV[1])
return { -1, token }`

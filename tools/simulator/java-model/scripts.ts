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

// The queue of a fair lock: a list of owners, and a sorted set of their deadlines by the clock of the client.

/** Drops the head of the queue while its deadline is over. A head without a deadline stays. */
const SWEEP = `
local function sweep(queue, deadlines, now)
  while true do
    local head = redis.call('lindex', queue, 0)
    local deadline = head and redis.call('zscore', deadlines, head)
    if not deadline or tonumber(deadline) > tonumber(now) then return head end
    redis.call('lpop', queue)
    redis.call('zrem', deadlines, head)
  end
end
local function shift(deadlines, owners, by)
  for _, owner in ipairs(owners) do redis.call('zincrby', deadlines, -tonumber(by), owner) end
end
`

const ENTER = `
local head = sweep(KEYS[2], KEYS[3], ARGV[3])
if redis.call('exists', KEYS[1]) == 0 and (not head or head == ARGV[2]) then
  redis.call('lpop', KEYS[2])
  redis.call('zrem', KEYS[3], ARGV[2])
  shift(KEYS[3], redis.call('zrange', KEYS[3], 0, -1), ARGV[4])
  redis.call('hset', KEYS[1], ARGV[2], 1)
  redis.call('pexpire', KEYS[1], ARGV[1])
  return nil
end
if redis.call('hexists', KEYS[1], ARGV[2]) == 1 then
  redis.call('hincrby', KEYS[1], ARGV[2], 1)
  redis.call('pexpire', KEYS[1], ARGV[1])
  return nil
end
`

/** KEYS: lock, queue, deadlines. ARGV: lease, owner, now, wait. Answers nil or how long to sleep. */
export const FAIR_ACQUIRE = `${SWEEP}${ENTER}
local ttl = redis.call('pttl', KEYS[1])
if redis.call('zscore', KEYS[3], ARGV[2]) then return math.max(0, ttl) end
local last = redis.call('lindex', KEYS[2], -1)
local base = ttl
if last then base = tonumber(redis.call('zscore', KEYS[3], last)) - tonumber(ARGV[3]) end
redis.call('zadd', KEYS[3], base + tonumber(ARGV[3]) + tonumber(ARGV[4]), ARGV[2])
redis.call('rpush', KEYS[2], ARGV[2])
return base`

/** The same without a place in the queue; answers nil or 1. */
export const FAIR_TRY = `${SWEEP}${ENTER}
return 1`

/** KEYS: queue, deadlines. ARGV: owner, wait. */
export const FAIR_LEAVE = `${SWEEP}
local owners = redis.call('lrange', KEYS[1], 0, -1)
local behind, found = {}, false
for _, owner in ipairs(owners) do
  if found then behind[#behind + 1] = owner end
  if owner == ARGV[1] then found = true end
end
if not found then return 0 end
shift(KEYS[2], behind, ARGV[2])
redis.call('zrem', KEYS[2], ARGV[1])
redis.call('lrem', KEYS[1], 0, ARGV[1])
return 1`

/** KEYS: lock, queue, deadlines. ARGV: lease, owner, now, channel without the owner. */
export const FAIR_RELEASE = `${SWEEP}
local head = sweep(KEYS[2], KEYS[3], ARGV[3])
local function tell(owner) if owner then redis.call('publish', ARGV[4] .. ':' .. owner, '0') end end
if redis.call('exists', KEYS[1]) == 0 then
  tell(head)
  return 1
end
if redis.call('hexists', KEYS[1], ARGV[2]) == 0 then return nil end
if redis.call('hincrby', KEYS[1], ARGV[2], -1) > 0 then
  redis.call('pexpire', KEYS[1], ARGV[1])
  return 0
end
redis.call('del', KEYS[1])
tell(head)
return 1`

/** KEYS: lock, queue, deadlines. ARGV: now, channel without the owner. */
export const FAIR_FORCE_RELEASE = `${SWEEP}
local head = sweep(KEYS[2], KEYS[3], ARGV[1])
local existed = redis.call('del', KEYS[1])
if existed == 1 and head then redis.call('publish', ARGV[2] .. ':' .. head, '0') end
return existed`

// Semaphores with and without leases, and latches.

/** KEYS: semaphore. ARGV: permits. */
export const TAKE = `
local free = redis.call('get', KEYS[1])
if not free or tonumber(free) < tonumber(ARGV[1]) then return 0 end
redis.call('decrby', KEYS[1], ARGV[1])
return 1`

/** KEYS: semaphore, channel. ARGV: permits. */
export const GIVE = `redis.call('publish', KEYS[2], redis.call('incrby', KEYS[1], ARGV[1]))`

/** KEYS: semaphore. */
export const DRAIN = `
local free = redis.call('get', KEYS[1])
if not free then return 0 end
redis.call('set', KEYS[1], 0)
return tonumber(free)`

/** KEYS: semaphore or latch, channel. ARGV: value, message. */
export const SET_ONCE = `
if redis.call('exists', KEYS[1]) == 1 then return 0 end
redis.call('set', KEYS[1], ARGV[1])
redis.call('publish', KEYS[2], ARGV[2])
return 1`

/** KEYS: semaphore, channel. ARGV: permits, which may be negative. */
export const ADD = `
local sum = tonumber(redis.call('get', KEYS[1]) or 0) + tonumber(ARGV[1])
redis.call('set', KEYS[1], sum)
redis.call('publish', KEYS[2], sum)`

/** KEYS: semaphore or latch. */
export const VALUE = `return tonumber(redis.call('get', KEYS[1]) or 0)`

const IDS = `
local function decoded(hex)
  return (hex:gsub('%x%x', function(pair) return string.char(tonumber(pair, 16)) end))
end
local function reclaim(now, most)
  local over = redis.call('zrangebyscore', KEYS[2], '-inf', now, 'limit', 0, most)
  if #over == 0 then return end
  redis.call('zrem', KEYS[2], unpack(over))
  local free = redis.call('incrby', KEYS[1], #over)
  if free > 0 then redis.call('publish', KEYS[3], free) end
end
`

/** KEYS: semaphore, permits in use, channel. ARGV: now, expiry, ids in hex. Answers 'OK', or the nearest expiry, or nil. */
export const TAKE_LEASED = `${IDS}
local wanted = #ARGV - 2
reclaim(ARGV[1], wanted)
local free = redis.call('get', KEYS[1])
if free and tonumber(free) >= wanted then
  redis.call('decrby', KEYS[1], wanted)
  for i = 3, #ARGV do redis.call('zadd', KEYS[2], ARGV[2], decoded(ARGV[i])) end
  local left = redis.call('pttl', KEYS[1])
  if left > 0 then redis.call('pexpire', KEYS[2], left) end
  return 'OK'
end
local nearest = redis.call('zrange', KEYS[2], 0, 0, 'withscores')
if not nearest[2] or tonumber(nearest[2]) >= 922337203685477 then return nil end
return ':' .. nearest[2]`

/** KEYS as above. ARGV: now, id in hex. */
export const GIVE_LEASED = `${IDS}
local id = decoded(ARGV[2])
local expiry = redis.call('zscore', KEYS[2], id)
if not expiry then return 0 end
redis.call('zrem', KEYS[2], id)
redis.call('publish', KEYS[3], redis.call('incrby', KEYS[1], 1))
return tonumber(expiry) <= tonumber(ARGV[1]) and 0 or 1`

/** KEYS as above. ARGV: now. */
export const FREE_LEASED = `${IDS}
reclaim(ARGV[1], -1)
return tonumber(redis.call('get', KEYS[1]) or 0)`

/** KEYS as above. ARGV: now, expiry, id in hex. */
export const LEASE_ANEW = `${IDS}
reclaim(ARGV[1], -1)
local id = decoded(ARGV[3])
if not redis.call('zscore', KEYS[2], id) then return 0 end
redis.call('zadd', KEYS[2], ARGV[2], id)
return 1`

/** KEYS: latch, channel. */
export const COUNT_DOWN = `
local left = redis.call('decr', KEYS[1])
if left <= 0 then redis.call('del', KEYS[1]) end
if left == 0 then redis.call('publish', KEYS[2], '0') end`

/** KEYS: latch, channel. */
export const DELETE_LATCH = `
local existed = redis.call('del', KEYS[1])
if existed == 1 then redis.call('publish', KEYS[2], '1') end
return existed`

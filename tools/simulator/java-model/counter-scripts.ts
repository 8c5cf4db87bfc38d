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

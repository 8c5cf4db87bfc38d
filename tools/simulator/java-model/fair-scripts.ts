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

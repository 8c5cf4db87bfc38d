-- A rate limiter, as Java has it. KEYS[1] is a hash with its `rate`, `interval` and `keepAliveTime` in ms, and `type`: 0 for all
-- clients together, 1 for each client. KEYS[2] is how many permits are left, and KEYS[3] the grants of the last interval: a sorted set
-- whose scores are the times of the grants. KEYS[4] and KEYS[5] are the same for this client alone. A member of the set has the length
-- of an id in one byte, the id, and the number of permits in the last four bytes.
--
-- readLimiter(): returns the rate, the interval, the keys of what is left and of the grants, and the keepAliveTime; nothing where the
-- limiter was never set.
-- permitsOf(member): returns how many permits a grant took.
-- used(grants, from): returns how many permits the grants took from this place on. It reads 1000 grants, and counts one
-- permit for each of the others.
-- leftAt(now, rate, interval, left, grants): returns how many permits are left at this time, by the server's clock in ms, and how many of the
-- oldest grants are older than the interval. It reads 1000 of these at most.
-- keepAlive(keepAliveTime, left, grants): sets the time to live of all keys.

local function readLimiter()
  local rate = redis.call('hget', KEYS[1], 'rate')
  local interval = redis.call('hget', KEYS[1], 'interval')
  local kind = redis.call('hget', KEYS[1], 'type')
  if not (rate and interval and kind) then
    return
  end
  local left, grants = KEYS[2], KEYS[3]
  if kind == '1' then
    left, grants = KEYS[4], KEYS[5]
  end
  local keep = tonumber(redis.call('hget', KEYS[1], 'keepAliveTime') or '0')
  return tonumber(rate), tonumber(interval), left, grants, keep
end

local function permitsOf(member)
  return (struct.unpack('I', string.sub(member, -4)))
end

local AT_ONCE = 1000
local function used(grants, from)
  local read = redis.call('zrange', grants, from, from + AT_ONCE - 1)
  local sum = redis.call('zcard', grants) - from - #read
  for _, member in ipairs(read) do
    sum = sum + permitsOf(member)
  end
  return sum
end

local function leftAt(now, rate, interval, left, grants)
  local value = redis.call('get', left)
  if not value then
    return rate, 0
  end
  value = tonumber(value)
  local ended = math.min(redis.call('zcount', grants, '-inf', now - interval), AT_ONCE)
  if ended > 0 then
    for _, member in ipairs(redis.call('zrange', grants, 0, ended - 1)) do
      value = value + permitsOf(member)
    end
    -- Permits that were released come back a second time when their grant ends. The rate is their bound.
    if value > rate then
      value = rate - used(grants, ended)
    end
  end
  return value, ended
end

local function keepAlive(keepAliveTime, left, grants)
  if keepAliveTime > 0 then
    redis.call('pexpire', KEYS[1], keepAliveTime)
  else
    keepAliveTime = redis.call('pttl', KEYS[1])
  end
  if keepAliveTime > 0 then
    redis.call('pexpire', left, keepAliveTime)
    redis.call('pexpire', grants, keepAliveTime)
  end
end

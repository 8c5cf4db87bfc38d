-- The permits of an expirable semaphore that are in use: a sorted set of ids, 16 bytes each. The score is when the lease ends.
--
-- permitsError(counter, timeouts): returns an error if one of the two keys holds something else.
-- bytes(id): returns the id as the set stores it, from the 32 hexadecimal digits that callers use.
-- leaseEnd(now, lease): returns when a lease of this many ms ends; a lease of 0 never ends.
-- reclaim(counter, timeouts, now): releases expired permits, 20,000 at most, and returns how many they were.
-- setTimeToLive(counter, timeouts): gives both keys the same time to live.

--- @include "counter"
local function permitsError(counter, timeouts)
  local kind = redis.call('type', timeouts).ok
  if kind ~= 'none' and kind ~= 'zset' then
    return redis.error_reply('WRONGTYPE the key beside the semaphore holds no permits')
  end
  return counterError(counter)
end

local function bytes(id)
  local text = ''
  for i = 1, 32, 8 do
    local word = tonumber(string.sub(id, i, i + 7), 16)
    text = text .. string.char(
      math.floor(word / 16777216),
      math.floor(word / 65536) % 256,
      math.floor(word / 256) % 256,
      word % 256
    )
  end
  return text
end

-- The score that Redisson uses for a permit without a lease.
local NEVER = 922337203685477

local function leaseEnd(now, lease)
  lease = tonumber(lease)
  return lease > 0 and math.min(now + lease, NEVER) or NEVER
end

local function reclaim(counter, timeouts, now)
  local expired = math.min(redis.call('zcount', timeouts, '-inf', now), 20000)
  if expired > 0 then
    redis.call('zremrangebyrank', timeouts, 0, expired - 1)
    -- If the count was lost, no client knows how many permits there are in all. setPermits() repairs that.
    if redis.call('exists', counter) == 1 then
      redis.call('incrby', counter, expired)
    end
  end
  return expired
end

local function setTimeToLive(counter, timeouts)
  local left = redis.call('pttl', counter)
  if left > 0 then
    redis.call('pexpire', timeouts, left)
  elseif left == -1 then
    redis.call('persist', timeouts)
  end
end

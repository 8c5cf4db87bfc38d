-- The permits of an expirable semaphore that are out: a sorted set of ids, 16 bytes each, scored by when their leases end.
--
-- permitsError(counter, timeouts): what is wrong with the two keys; nothing where they are in order.
-- bytes(id): the id as it is stored, of the 32 hexadecimal digits that callers know.
-- leaseEnd(now, lease): when a lease of so many ms ends; 0: never.
-- reclaim(counter, timeouts, now): releases what has expired, 20,000 permits at most, and answers how many those were.
-- setTimeToLive(counter, timeouts): neither key outlives the other.

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

-- As Redisson writes it.
local NEVER = 922337203685477

local function leaseEnd(now, lease)
  lease = tonumber(lease)
  return lease > 0 and math.min(now + lease, NEVER) or NEVER
end

local function reclaim(counter, timeouts, now)
  local expired = math.min(redis.call('zcount', timeouts, '-inf', now), 20000)
  if expired > 0 then
    redis.call('zremrangebyrank', timeouts, 0, expired - 1)
    -- Without a count no client knows how many there are in all: setPermits() puts that right.
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

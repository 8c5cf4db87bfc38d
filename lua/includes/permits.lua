-- The permits of an expirable semaphore that are in use: a sorted set of ids, 16 bytes each. The score is when the lease ends.
--
-- permitsError(counter, timeouts): returns an error if one of the two keys holds something else.
-- bytes(id): returns the id as the set stores it, from the 32 hexadecimal digits that callers use.
-- leaseEnd(now, lease): returns when a lease of this many ms ends; a lease of 0 never ends.
-- reclaim(counter, timeouts, now, isCounted): releases expired permits, 20,000 at most, and returns how many they were.
-- `isCounted`: whether the counter exists. Where the server refuses one of its commands, nothing was changed.
-- setTimeToLive(counter, timeouts): gives both keys the same time to live. Returns an error where the server refuses that, or nil and
-- the time to live of the counter.

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

local function reclaim(counter, timeouts, now, isCounted)
  local expired = math.min(redis.call('zcount', timeouts, '-inf', now), 20000)
  if expired > 0 then
    -- If the count was lost, no client knows how many permits there are in all. setPermits() repairs that.
    if isCounted then
      -- This removes nothing. It finds out whether the server refuses the command, and is a write that needs no memory.
      redis.call('zremrangebyrank', timeouts, 1, 0)
      redis.call('incrby', counter, expired)
    end
    redis.call('zremrangebyrank', timeouts, 0, expired - 1)
  end
  return expired
end

local function setTimeToLive(counter, timeouts)
  local left = redis.pcall('pttl', counter)
  if type(left) == 'table' then
    return left
  end
  local answer
  if left > 0 then
    answer = redis.pcall('pexpire', timeouts, left)
  elseif left < 0 then
    -- A counter that is absent gets no time to live.
    answer = redis.pcall('persist', timeouts)
  end
  if type(answer) == 'table' then
    return answer
  end
  return nil, left
end

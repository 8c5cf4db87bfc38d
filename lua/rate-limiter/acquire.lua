-- Takes permits of a rate limiter, if enough are left.
--
-- KEYS[1]  the limiter
-- KEYS[2]  how many permits are left
-- KEYS[3]  the grants of the last interval
-- KEYS[4]  how many permits are left for this client
-- KEYS[5]  the grants of the last interval to this client
-- ARGV[1]  how many permits, 1 or more
-- ARGV[2]  the id of this request
--
-- Answers  a list: 1 and how many permits are left, where they were taken; 0 and after how many ms enough may be left; -1 where the
--          limiter was never set; -2 and the rate, where it is below ARGV[1]
-- Error    WRONGTYPE where a key holds something else
--
-- Applied twice: the grants of the last interval have the id, and nothing is taken. After that interval a copy takes permits anew.

--- @include "server-time"
--- @include "rate-limiter"
local rate, interval, left, grants, keepAliveTime = readLimiter()
if not rate then
  return {-1}
end
local permits = tonumber(ARGV[1])
if permits > rate then
  return {-2, rate}
end

local now = serverTime()
local value, ended = leftAt(now, rate, interval, left, grants)
local member = struct.pack('Bc0I', #ARGV[2], ARGV[2], permits)
local answer
if redis.call('zscore', grants, member) then
  answer = {1, math.max(value, 0)}
elseif value >= permits then
  redis.call('zadd', grants, now, member)
  value = value - permits
  answer = {1, value}
else
  -- Each grant took one permit at least, so this many of them free enough.
  local missing = math.min(permits - value, 1000)
  local oldest = redis.call('zrange', grants, ended, ended + missing - 1, 'withscores')
  answer = {0, 0}
  for at = 1, #oldest, 2 do
    if missing > 0 then
      missing = missing - permitsOf(oldest[at])
      -- The clock of a Java client may be ahead. No wait is longer than an interval for that.
      answer[2] = math.min(tonumber(oldest[at + 1]) + interval - now, interval)
    end
  end
  if #oldest == 0 and ended == 0 then
    -- No grant will end, so the number was changed in another way.
    value = rate
    ended = 1
  end
end
if ended > 0 then
  redis.call('zremrangebyrank', grants, 0, ended - 1)
end
if ended > 0 or answer[1] == 1 then
  redis.call('set', left, value)
end
keepAlive(keepAliveTime, left, grants)
return answer

-- Cancels an acquisition of a rate limiter. The permits that it was granted are left again.
--
-- KEYS[1]  the limiter
-- KEYS[2]  how many permits are left
-- KEYS[3]  the grants of the last interval
-- KEYS[4]  how many permits are left for this client
-- KEYS[5]  the grants of the last interval to this client
-- ARGV[1]  how many permits the acquisition asked for
-- ARGV[2]  the id of its request
-- ARGV[3]  the channel
-- ARGV[4]  PUBLISH or SPUBLISH
--
-- Answers  0   it was granted nothing, or its interval is over
--          1   its permits are left again, and the waiters were notified
--          2   its permits are left again, but the server refused the message (ACL)
-- Error    WRONGTYPE where a key holds something else
--
-- Applied twice: the grant is gone, and nothing is added. A copy of the acquisition that comes after it takes permits until the interval ends.

--- @include "notify"
--- @include "rate-limiter"
local rate, _, left, grants, keepAliveTime = readLimiter()
local permits = tonumber(ARGV[1])
if permits < 1 or not rate then
  return 0
end
if redis.call('zrem', grants, struct.pack('Bc0I', #ARGV[2], ARGV[2], permits)) == 0 then
  return 0
end
local value = math.min(rate, (redis.call('get', left) or rate) + ARGV[1])
redis.call('set', left, value)
keepAlive(keepAliveTime, left, grants)
return notify(ARGV[4], ARGV[3], value) and 1 or 2

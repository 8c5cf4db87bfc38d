-- Adds a level to a read hold.
--
-- KEYS[1]  the lock
-- KEYS[2]  the read timeout key of the new level
-- ARGV[1]  the owner field
-- ARGV[2]  the lease of the new level, in ms; never shortens what the key still has
-- ARGV[3]  the hold count that the client wants; only the client changes its field
-- ARGV[4]  the lease end, by the server's clock in ms, that the last partial release of this hold saw, or 0. The new
--          lease must end at another moment, so that the server recognises a late copy of that release
--
-- Answers  when the new level's lease ends, by the server's clock in ms: the count is as wanted
--          0   the hold is gone: nothing was changed
-- Error    WRONGTYPE where the key is no hash
--
-- Applied twice or late: the count never falls, and no lease gets shorter. A copy changes nothing but the read timeout key.

--- @include "server-time"
--- @include "distinct-lease-end"
local now = serverTime()

local count = redis.call('hget', KEYS[1], ARGV[1])
if not count then
  return 0
end

local lease = distinctLease(now, math.max(tonumber(ARGV[2]), redis.call('pttl', KEYS[2])), ARGV[4])
local missing = tonumber(ARGV[3]) - tonumber(count)
if missing > 0 then
  redis.call('hincrby', KEYS[1], ARGV[1], missing)
end
redis.call('set', KEYS[2], '1', 'px', lease)
redis.call('pexpire', KEYS[1], math.max(lease, redis.call('pttl', KEYS[1])))
return now + lease

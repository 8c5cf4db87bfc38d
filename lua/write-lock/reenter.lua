-- Adds a level to a write hold.
--
-- KEYS[1]  the lock
-- ARGV[1]  the owner field
-- ARGV[2]  the lease the new level needs, in ms; added to what the key still has, as Java does
-- ARGV[3]  the hold count that the client wants; only the client changes its field
-- ARGV[4]  the lease end, by the server's clock in ms, that the last partial release of this hold saw, or 0. The new
--          lease must end at another moment, so that the server recognises a late copy of that release
--
-- Answers  when the lease ends now, by the server's clock in ms: the count is as wanted
--          0   the hold is gone: nothing was changed
-- Error    WRONGTYPE where the key is no hash
--
-- Applied twice or late: the count never falls, and only the copy that raises the count adds to the lease.

--- @include "server-time"
--- @include "distinct-lease-end"
local now = serverTime()

local count = tonumber(redis.call('hget', KEYS[1], ARGV[1]) or '0')
if count == 0 then
  return 0
end

local wanted = tonumber(ARGV[3])
local lease = tonumber(ARGV[2])
local remaining = math.max(redis.call('pttl', KEYS[1]), 0)
if count < wanted then
  redis.call('hincrby', KEYS[1], ARGV[1], wanted - count)
  lease = distinctLease(now, remaining + lease, ARGV[4])
else
  lease = distinctLease(now, math.max(remaining, lease), ARGV[4])
end
redis.call('pexpire', KEYS[1], lease)
return now + lease

-- Ends read holds of any client, provided they are still there; with the last of all the lock is free.
-- A write hold of an owner that reads as well stays.
--
-- KEYS[1]  the lock
-- ARGV[1], ARGV[2]  what stands before and behind an owner field in the names of its read timeout keys
-- ARGV[3]  the channel
-- ARGV[4]  PUBLISH or SPUBLISH
-- ARGV[5…] the owner fields the client saw
--
-- Answers  0   the lock is not held for reading, or by others only: nothing was changed
--          1   those holds have ended, others or the write hold remain
--          2   freed, and the waiters notified
--          3   freed, but the server refused the message (ACL)
-- Error    WRONGTYPE where the key is no hash
--
-- Applied twice or late: newer holds have other fields and are left alone. So with one that broke off at a
-- read timeout key which its slot's move had taken elsewhere: those keys go first, and the copy finds what is left.

--- @include "read-levels"

local found = false
for i = 5, #ARGV do
  local count = redis.call('hget', KEYS[1], ARGV[i])
  if count then
    found = true
    eachLevel(1, tonumber(count) or 0, function(level)
      return redis.call('del', ARGV[1] .. ARGV[i] .. ARGV[2] .. level) == 1
    end)
    redis.call('hdel', KEYS[1], ARGV[i])
  end
end
if not found then
  return 0
end
if redis.call('hlen', KEYS[1]) > 1 then
  return 1
end

redis.call('del', KEYS[1])
--- @include "notify"
return notify(ARGV[4], ARGV[3], '0') and 2 or 3

--!df flags=allow-undeclared-keys
-- Ends read holds of any client, if they still exist. When the last hold of all ends, the lock is free.
-- The write hold of an owner that also reads stays.
--
-- KEYS[1]  the lock
-- ARGV[1], ARGV[2]  the parts before and after an owner field in the names of its read timeout keys
-- ARGV[3]  the channel
-- ARGV[4]  PUBLISH or SPUBLISH
-- ARGV[5…] the owner fields that the client saw
--
-- Answers  0   none of these holds exists: nothing was changed
--          1   those holds have ended; other read holds or the write hold remain
--          2   freed, and no client listened
--          { 2, how many clients were notified }   freed
--          3   freed, but the server refused the message (ACL)
-- Error    WRONGTYPE where the key is no hash
--
-- Applied twice or late: newer holds have other fields and stay. If the script ended at a read timeout key that a slot
-- migration had moved away, the fields of that hold still exist, and the next copy finds them.

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
--- @include "notify-freed"
return notifyFreed(ARGV[4], ARGV[3], '0')

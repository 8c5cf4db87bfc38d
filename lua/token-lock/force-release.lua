-- Frees a lock of any holder, if it is still the holder that the client saw.
--
-- KEYS[1]  the lock
-- ARGV[1]  the channel
-- ARGV[2]  PUBLISH or SPUBLISH
-- ARGV[3]  the SHA-1 of the value that the client saw: the tokens of other clients never leave the server
--
-- Answers  0   that holder is gone: nothing was changed
--          2   freed, and no client listened
--          { 2, how many clients were notified }   freed
--          3   freed, but the server refused the message (ACL)
-- Error    WRONGTYPE where the key is no string
--
-- Applied twice or late: a newer holder has another token and stays.

local holder = redis.call('get', KEYS[1])
if not holder or redis.sha1hex(holder) ~= ARGV[3] then
  return 0
end

redis.call('del', KEYS[1])
--- @include "notify-freed"
return notifyFreed(ARGV[2], ARGV[1], '0')

-- Ends a hold, and notifies the waiters of this package; others never publish and never listen.
--
-- KEYS[1]  the lock
-- ARGV[1]  the token
-- ARGV[2]  the channel
-- ARGV[3]  PUBLISH or SPUBLISH
--
-- Answers  0   not held: nothing was changed
--          { 2, how many clients were notified }   freed
--          3   freed, but the server refused the message (ACL)
-- Error    WRONGTYPE where the key is no string
--
-- Applied twice or late: the token is in the key no more, and is never used again; a newer holder is left alone.

if redis.call('get', KEYS[1]) ~= ARGV[1] then
  return 0
end

redis.call('del', KEYS[1])
--- @include "notify"
local heard = notify(ARGV[3], ARGV[2], '0')
if not heard then
  return 3
end
return { 2, heard }

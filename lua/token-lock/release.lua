-- Ends a hold, and notifies the waiters of this package. Other libraries neither publish nor listen.
--
-- KEYS[1]  the lock
-- ARGV[1]  the token
-- ARGV[2]  the channel
-- ARGV[3]  PUBLISH or SPUBLISH
--
-- Answers  0   not held: nothing was changed
--          2   freed, and no client listened
--          { 2, how many clients were notified }   freed
--          3   freed, but the server refused the message (ACL)
-- Error    WRONGTYPE where the key is no string
--
-- Applied twice or late: the key no longer has the token, and no other hold uses that token. A newer holder stays.

if redis.call('get', KEYS[1]) ~= ARGV[1] then
  return 0
end

redis.call('del', KEYS[1])
--- @include "notify-freed"
return notifyFreed(ARGV[3], ARGV[2], '0')

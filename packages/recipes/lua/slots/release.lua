-- Releases a number.
--
-- KEYS[1]  the numbers in use
-- ARGV[1]  the owner
-- ARGV[2]  the channel
-- ARGV[3]  PUBLISH or SPUBLISH
--
-- Answers  0   it was not in use: nothing was changed
--          1   released, and the waiters were notified
--          2   released, but the server refused the message (ACL)
-- Error    WRONGTYPE where the key holds something else
--
-- Applied twice: the owner has no number any more.

--- @include "notify"
if redis.call('zrem', KEYS[1], ARGV[1], ARGV[1] .. ':lease') == 0 then
  return 0
end
return notify(ARGV[3], ARGV[2], '1') and 1 or 2

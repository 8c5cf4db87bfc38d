-- Ends a run that stores nothing: the next caller runs.
--
-- KEYS[1]  the run
-- ARGV[1]  its owner
-- ARGV[2]  the channel
-- ARGV[3]  PUBLISH or SPUBLISH
--
-- Answers  0   the owner does not have the key: nothing was changed
--          1   ended, and the waiters were notified
--          2   ended, but the server refused the message (ACL)
-- Error    WRONGTYPE where the key holds something else
--
-- Applied twice: the owner does not have the key any more.

if redis.call('hget', KEYS[1], 'owner') ~= ARGV[1] then
  return 0
end
redis.call('del', KEYS[1])
--- @include "notify"
return notify(ARGV[3], ARGV[2], '1') and 1 or 2

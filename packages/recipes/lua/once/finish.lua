-- Stores the result of a run, if its owner still has the key.
--
-- KEYS[1]  the run
-- ARGV[1]  its owner
-- ARGV[2]  the result
-- ARGV[3]  the fingerprint, or the empty string
-- ARGV[4]  for how long the result is kept, in ms
-- ARGV[5]  the channel
-- ARGV[6]  PUBLISH or SPUBLISH
--
-- Answers  0   the owner has lost the key: nothing was changed
--          1   stored, and the waiters were notified
--          2   stored, but the server refused the message (ACL)
-- Error    WRONGTYPE where the key holds something else
--
-- Applied twice: the result is there already, and is kept no longer.

if redis.call('hget', KEYS[1], 'by') == ARGV[1] then
  return 1
end
if redis.call('hget', KEYS[1], 'owner') ~= ARGV[1] then
  return 0
end
redis.call('hset', KEYS[1], 'value', ARGV[2], 'fingerprint', ARGV[3], 'by', ARGV[1])
redis.call('hdel', KEYS[1], 'owner')
redis.call('pexpire', KEYS[1], ARGV[4])
--- @include "notify"
return notify(ARGV[6], ARGV[5], '1') and 1 or 2

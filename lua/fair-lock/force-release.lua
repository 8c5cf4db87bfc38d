-- Frees a fair lock of any holder, if it is still the holder that the client saw. The queue stays.
--
-- KEYS[1]  the lock
-- KEYS[2]  the queue
-- KEYS[3]  when each place in the queue lapses
-- ARGV[1]  the owner field the client saw
-- ARGV[2]  the allowance of a place in ms
-- ARGV[3]  the beginning of an owner's channel: <channel>:
-- ARGV[4]  the channel of the locks that are not fair, used if the queue is empty
-- ARGV[5]  PUBLISH or SPUBLISH
--
-- Answers  0   that holder is gone: nothing was changed
--          2   freed, and no client listened
--          { 2, how many clients were notified }   freed
--          3   freed, but the server refused the message (ACL)
-- Error    WRONGTYPE where the lock is no hash
--
-- Applied twice or late: a newer holder has another field and stays.

if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then
  return 0
end

--- @include "fair-queue"
--- @include "notify-freed"
redis.call('del', KEYS[1])
local head = not queueError() and not isEmpty() and firstInQueue(serverTime(), tonumber(ARGV[2]))
return notifyFreed(ARGV[5], head and ARGV[3] .. head or ARGV[4], '0')

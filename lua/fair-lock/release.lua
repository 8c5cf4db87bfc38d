-- Releases the last level of a hold, and notifies the owner at the head of the queue.
--
-- KEYS[1]  the lock
-- KEYS[2]  the queue
-- KEYS[3]  when each place in the queue lapses
-- ARGV[1]  the owner field
-- ARGV[2]  the allowance of a place in ms
-- ARGV[3]  the beginning of an owner's channel: <channel>:
-- ARGV[4]  the channel of the locks that are not fair, used if the queue is empty
-- ARGV[5]  PUBLISH or SPUBLISH
--
-- Answers  0   not held: nothing was changed. If the lock is free, the head is still notified
--          2   freed, and no client listened
--          { 2, how many clients were notified }   freed
--          3   freed, but the server refused the message (ACL)
-- Error    WRONGTYPE where the lock is no hash
--
-- Applied twice or late: it finds the field gone and answers 0. After a broken connection the client takes this for success. A
-- second message makes the head try once more.

--- @include "fair-queue"
--- @include "notify-freed"

local freed = redis.call('hdel', KEYS[1], ARGV[1]) == 1
if redis.call('exists', KEYS[1]) == 1 then
  return freed and 2 or 0
end
-- The hold is released even if a key of the queue holds something else.
local head = not queueError() and not isEmpty() and firstInQueue(serverTime(), tonumber(ARGV[2]))
if freed then
  return notifyFreed(ARGV[5], head and ARGV[3] .. head or ARGV[4], '0')
end
if head then
  notify(ARGV[5], ARGV[3] .. head, '0')
end
return 0

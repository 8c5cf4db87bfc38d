-- Leaves the queue of a fair lock. If the lock is free, notifies the owner at the head of the queue or, if the queue is empty,
-- the waiters of the locks of this name that are not fair.
--
-- KEYS[1]  the lock
-- KEYS[2]  the queue
-- KEYS[3]  when each place in the queue lapses
-- ARGV[1]  the owner field
-- ARGV[2]  the allowance of a place in ms
-- ARGV[3]  the beginning of an owner's channel: <channel>:
-- ARGV[4]  PUBLISH or SPUBLISH
--
-- Answers  how many entries of the owner were removed
-- Error    WRONGTYPE where the queue holds something else
--
-- The scores behind the place stay: a place of this library adds no wait to them.
--
-- Applied twice or late: there is nothing to remove.

--- @include "fair-queue"
local wrong = queueError()
if wrong then
  return wrong
end
local removed = redis.call('lrem', KEYS[2], 1, ARGV[1]) + redis.call('zrem', KEYS[3], ARGV[1])
countPlaces()
local head = firstInQueue(serverTime(), tonumber(ARGV[2]))
-- The release may have notified only the owner that leaves. Without another owner in the queue, the waiters of the other locks
-- of this name are next. Their channel is the beginning of an owner's channel without its colon.
if removed > 0 and redis.call('exists', KEYS[1]) == 0 then
  notify(ARGV[4], head and ARGV[3] .. head or string.sub(ARGV[3], 1, -2), '0')
end
return removed

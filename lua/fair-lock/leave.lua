-- Leaves the queue of a fair lock, and notifies who is next where the lock is free: the owner that heads the queue then, or
-- the waiters of the other locks of this name.
--
-- KEYS[1]  the lock
-- KEYS[2]  the queue
-- KEYS[3]  when each place in the queue lapses
-- ARGV[1]  the owner field
-- ARGV[2]  the allowance of a place in ms
-- ARGV[3]  the channel of an owner without the owner: <channel>:
-- ARGV[4]  PUBLISH or SPUBLISH
--
-- Answers  how many entries of the owner were removed
-- Error    WRONGTYPE where the queue holds something else
--
-- A place of ours has lengthened no place behind it for good, so nothing is taken off the others' scores.
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
-- The release may have notified the one that leaves, and it alone. Without another in the queue the waiters of the other
-- locks of this name are next; their channel is that of an owner without the colon.
if removed > 0 and redis.call('exists', KEYS[1]) == 0 then
  notify(ARGV[4], head and ARGV[3] .. head or string.sub(ARGV[3], 1, -2), '0')
end
return removed

-- Sets how many permits there are in all, if the semaphore does not exist.
--
-- KEYS[1]  the semaphore: the number of permits that are free
-- KEYS[2]  the permits in use
-- KEYS[3]  the record of the requests of this client
-- ARGV[1]  how many permits, 0 or more
-- ARGV[2]  the channel
-- ARGV[3]  PUBLISH or SPUBLISH
-- ARGV[4]  the slot of this request
-- ARGV[5]  the number of this request
--
-- Answers  1   set, and the waiters were notified
--          0   it exists already: nothing was changed
--          2   set, but the server refused the message (ACL)
--          3   set, and no message was due
-- Error    WRONGTYPE where a key holds something else
--
-- Applied twice: the record knows the request and its answer, also after the semaphore was deleted.

local slot, request, record = ARGV[4], ARGV[5], KEYS[3]
--- @include "permits-request"
--- @include "server-time"

local answer = 0
local free, refusal
if value then
  refusal = recordAnswer(record, slot, request, answer)
else
  reclaim(KEYS[1], KEYS[2], serverTime(), false)
  -- If the count was lost, permits may still be in use. They are part of the number.
  free = ARGV[1] - redis.call('zcard', KEYS[2])
  answer = free > 0 and 1 or 3
  refusal = recordAnswer(record, slot, request, answer)
    or changeOnce(record, slot, 'persist', KEYS[2])
    or changeOnce(record, slot, 'set', KEYS[1], string.format('%.0f', free))
end
if refusal then
  return refusal
end
--- @include "notify-once"
return notifyOnce(answer, ARGV[3], ARGV[2], free)

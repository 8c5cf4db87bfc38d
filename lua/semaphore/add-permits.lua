-- Changes the number of permits of a semaphore, up or down; it may fall below zero.
--
-- KEYS[1]  the semaphore: the number of permits that are free
-- KEYS[2]  the record of the requests of this client
-- ARGV[1]  how many permits to add; a negative number takes permits away
-- ARGV[2]  the channel
-- ARGV[3]  PUBLISH or SPUBLISH
-- ARGV[4]  the slot of this request
-- ARGV[5]  the number of this request
--
-- Answers  1   changed, and the waiters were notified
--          2   changed, but the server refused the message (ACL)
--          3   changed, and no message was due
--          -1  Java could not read the new number: nothing was changed
-- Error    WRONGTYPE where the key holds no count
--
-- Applied twice: the record knows the request and its answer, and nothing is added.

local slot, request, record = ARGV[4], ARGV[5], KEYS[2]
--- @include "count-request"

local sum = tonumber(value or '0') + ARGV[1]
-- Java's listeners accept no message below 1. Waiters need no message when permits were taken away.
local answer = sum > 0 and tonumber(ARGV[1]) > 0 and 1 or 3
if sum > 2147483647 or sum < -2147483648 then
  answer = -1
end
local refusal = recordAnswer(record, slot, request, answer)
if not refusal and answer > 0 then
  -- The script does not use SET, because SET would remove the time to live.
  refusal = changeOnce(record, slot, 'incrby', KEYS[1], ARGV[1])
end
if refusal then
  return refusal
end
--- @include "notify-once"
return notifyOnce(answer, ARGV[3], ARGV[2], sum)

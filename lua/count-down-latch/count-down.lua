-- Counts a latch down by one. At zero the key is deleted, and all waiters are notified.
--
-- KEYS[1]  the latch: a number, absent at zero
-- KEYS[2]  the record of the requests of this client
-- ARGV[1]  the channel
-- ARGV[2]  PUBLISH or SPUBLISH
-- ARGV[3]  the slot of this request
-- ARGV[4]  the number of this request
--
-- Answers  0   counted down, or the latch was open already: no message was due
--          1   opened, and the waiters were notified
--          2   opened, but the server refused the message (ACL)
-- Error    WRONGTYPE where the key holds no count
--
-- Applied twice: the record knows the request, and the count stays.

local slot, request, record = ARGV[3], ARGV[4], KEYS[2]
--- @include "count-request"
--- @include "pass-shortage"
passShortage(record)

local count = tonumber(value or '0')
local answer = count == 1 and 1 or 0
recordAnswer(record, slot, request, answer)
local refusal
if count > 1 then
  refusal = changeOnce(record, slot, 'decr', KEYS[1])
elseif value then
  refusal = changeOnce(record, slot, 'del', KEYS[1])
end
if refusal then
  return refusal
end
--- @include "notify-once"
return notifyOnce(answer, ARGV[2], ARGV[1], '0')

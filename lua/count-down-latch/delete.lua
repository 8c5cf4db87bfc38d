-- Deletes a latch, and notifies its waiters.
--
-- KEYS[1]  the latch: a number, absent at zero
-- KEYS[2]  the record of the requests of this client
-- ARGV[1]  the channel
-- ARGV[2]  PUBLISH or SPUBLISH
-- ARGV[3]  the slot of this request
-- ARGV[4]  the number of this request
--
-- Answers  1   deleted
--          0   there was none
--          2   deleted, but the server refused the message (ACL)
-- Error    WRONGTYPE where the key holds no count
--
-- Applied twice: the record knows the request and its answer, also after the count was set again.

local slot, request, record = ARGV[3], ARGV[4], KEYS[2]
--- @include "count-request"
--- @include "pass-shortage"
passShortage(record)

local answer = value and 1 or 0
recordAnswer(record, slot, request, answer)
local refusal = value and changeOnce(record, slot, 'del', KEYS[1])
if refusal then
  return refusal
end
--- @include "notify-once"
-- Redisson publishes 1 here, which keeps its waiters asleep. A 0 makes them check the latch and go on. It is sent alone:
-- Redisson 3.16.8 handles two messages in any order, and its waiters stay asleep if it handles the 1 last.
return notifyOnce(answer, ARGV[2], ARGV[1], '0')

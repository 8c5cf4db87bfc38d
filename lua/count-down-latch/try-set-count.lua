-- Sets the count of a latch that has none.
--
-- KEYS[1]  the latch: a number, absent at zero
-- KEYS[2]  the record of the requests of this client
-- ARGV[1]  the count, 1 or more
-- ARGV[2]  the channel
-- ARGV[3]  PUBLISH or SPUBLISH
-- ARGV[4]  the slot of this request
-- ARGV[5]  the number of this request
--
-- Answers  1   set
--          0   there was a count already: nothing was changed
--          2   set, but the server refused the message (ACL)
-- Error    WRONGTYPE where the key holds no count
--
-- Applied twice: the record knows the request and its answer, also after the count has reached zero.

local slot, request, record = ARGV[4], ARGV[5], KEYS[2]
--- @include "count-request"

local answer = value and 0 or 1
local refusal = recordAnswer(record, slot, request, answer)
  or (not value and changeOnce(record, slot, 'set', KEYS[1], ARGV[1]))
if refusal then
  return refusal
end
--- @include "notify-once"
return notifyOnce(answer, ARGV[3], ARGV[2], '1')

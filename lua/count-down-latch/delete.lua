-- Deletes a latch, and notifies everybody who waits for it.
--
-- KEYS[1]  the latch: a number, absent at zero
-- KEYS[2]  the record of the requests of this client
-- ARGV[1]  the channel
-- ARGV[2]  PUBLISH or SPUBLISH
-- ARGV[3]  the number of this request
-- ARGV[4]  the lowest number of a request of this client whose answer it may still ask for; 0: unknown
--
-- Answers  1   deleted
--          0   there was none
--          2   deleted, but the server refused the message (ACL)
-- Error    WRONGTYPE where the key holds no count
--
-- Applied twice: the record knows the request and its answer, also after the count was set again.

--- @include "counter"
--- @include "request-record"
--- @include "pass-shortage"
local wrong = counterError(KEYS[1])
if wrong then
  return wrong
end
local before = recordedAnswer(KEYS[2], ARGV[3])
if before then
  return tonumber(before)
end
passShortage(KEYS[2])

local answer = 0
if redis.call('del', KEYS[1]) == 1 then
  --- @include "notify"
  -- Redisson says 1 here, which closes the gate of its waiters. 0 makes them look, and go. It goes alone: Redisson 3.16.8
  -- handles two messages in any order, and where it handles the 1 last its waiters stay.
  answer = notify(ARGV[2], ARGV[1], '0') and 1 or 2
end
recordAnswer(KEYS[2], ARGV[3], ARGV[4], answer)
return answer

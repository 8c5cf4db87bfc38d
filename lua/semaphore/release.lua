-- Adds permits to a semaphore, and notifies its waiters.
--
-- KEYS[1]  the semaphore: the number of permits that are free
-- KEYS[2]  the record of the requests of this client
-- ARGV[1]  how many permits, 1 or more
-- ARGV[2]  1: only if the semaphore exists
-- ARGV[3]  the channel
-- ARGV[4]  PUBLISH or SPUBLISH
-- ARGV[5]  the slot of this request
-- ARGV[6]  the number of this request
--
-- Answers  2 or more  added; 2 plus the number of clients that were notified. It is 2 if a permit was free before: those clients
--                     do not wait for this permit
--          1          added, but the server refused the message (ACL)
--          0          the semaphore does not exist: nothing was changed
--          -1         Java could not count the new number: nothing was changed
--          -2         added, but the number is still below one
-- Error    WRONGTYPE where the key holds no count
--
-- Applied twice: the record knows the request and its answer, and nothing is added.

--- @include "counter"
--- @include "request-record"
--- @include "pass-shortage"
--- @include "notify"
local wrong, value = counterError(KEYS[1])
if wrong then
  return wrong
end

local answer = '2'
if ARGV[2] == '1' and not value then
  answer = '0'
elseif (value or 0) + ARGV[1] > 2147483647 then
  answer = '-1'
end
passShortage(KEYS[2])
local before = recordedAnswer(KEYS[2], ARGV[5], ARGV[6])
if before then
  return tonumber(before)
end
recordAnswer(KEYS[2], ARGV[5], ARGV[6], answer)
if answer == '2' then
  local refusal, free = changeOnce(KEYS[2], ARGV[5], 'incrby', KEYS[1], ARGV[1])
  if refusal then
    return refusal
  end
  -- Java's listeners accept no message below 1.
  local heard = free > 0 and notify(ARGV[4], ARGV[3], free)
  if free <= 0 then
    answer = '-2'
  elseif not heard then
    answer = '1'
    recordAnswer(KEYS[2], ARGV[5], ARGV[6], answer)
  elseif free <= tonumber(ARGV[1]) then
    answer = 2 + heard
  end
end
return tonumber(answer)

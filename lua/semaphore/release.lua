-- Adds permits to a semaphore, and notifies its waiters.
--
-- KEYS[1]  the semaphore: the number of permits that are free
-- KEYS[2]  the record of the open requests of this client
-- ARGV[1]  how many permits, 1 or more
-- ARGV[2]  1: only if the semaphore exists
-- ARGV[3]  the channel
-- ARGV[4]  PUBLISH or SPUBLISH
-- ARGV[5]  the number of this request
-- ARGV[6]  the lowest number of an open request of this client; 0: not sent
--
-- Answers  0   the semaphore does not exist: nothing was changed
--          1   added
--          2   added, but the server refused the message (ACL)
--          -1  Java could not count the new number: nothing was changed
-- Error    WRONGTYPE where the key holds no count
--
-- Applied twice: the record knows the request and its answer, and nothing is added.

--- @include "counter"
--- @include "request-once"
--- @include "pass-shortage"
local wrong, value = counterError(KEYS[1])
if wrong then
  return wrong
end

local answer = '1'
if ARGV[2] == '1' and not value then
  answer = '0'
elseif (value or 0) + ARGV[1] > 2147483647 then
  answer = '-1'
end
passShortage(KEYS[2])
local before = recordOnce(KEYS[2], ARGV[5], ARGV[6], answer)
if before then
  return tonumber(before)
end
if answer == '1' then
  local free = redis.call('incrby', KEYS[1], ARGV[1])
  --- @include "notify"
  -- Java's listeners accept no message below 1.
  if free > 0 and not notify(ARGV[4], ARGV[3], free) then
    answer = '2'
    redis.call('hset', KEYS[2], ARGV[5], answer)
  end
end
return tonumber(answer)

-- Changes the number of permits of a semaphore, up or down; it may fall below zero.
--
-- KEYS[1]  the semaphore: the number of permits that are free
-- KEYS[2]  the record of the requests of this client
-- ARGV[1]  how many permits to add; below zero: to take away
-- ARGV[2]  the channel
-- ARGV[3]  PUBLISH or SPUBLISH
-- ARGV[4]  the number of this request
-- ARGV[5]  the lowest number of a request of this client whose answer it may still ask for; 0: unknown
--
-- Answers  1   changed
--          2   changed, but the server refused the message (ACL)
--          -1  the number would be one that Java cannot read: nothing was changed
-- Error    WRONGTYPE where the key holds no count
--
-- Applied twice: the record knows the request and its answer, and nothing is added.

--- @include "counter"
--- @include "request-record"
local wrong = counterError(KEYS[1])
if wrong then
  return wrong
end
local before = recordedAnswer(KEYS[2], ARGV[4])
if before then
  return tonumber(before)
end

local answer = 1
local sum = tonumber(redis.call('get', KEYS[1]) or '0') + ARGV[1]
if sum > 2147483647 or sum < -2147483648 then
  answer = -1
else
  -- Not SET, which would drop a time to live.
  redis.call('incrby', KEYS[1], ARGV[1])
  --- @include "notify"
  -- Java's listeners take no message below 1, and there is nothing to tell where permits were taken away.
  if sum > 0 and tonumber(ARGV[1]) > 0 and not notify(ARGV[3], ARGV[2], sum) then
    answer = 2
  end
end
recordAnswer(KEYS[2], ARGV[4], ARGV[5], answer)
return answer

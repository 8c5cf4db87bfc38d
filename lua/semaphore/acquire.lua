-- Takes permits of a semaphore, if there are enough.
--
-- KEYS[1]  the semaphore: the number of permits that are free
-- KEYS[2]  the record of the requests of this client
-- ARGV[1]  how many permits, 1 or more
-- ARGV[2]  the number of this request
-- ARGV[3]  the lowest number of a request of this client whose answer it may still ask for; 0: unknown
--
-- Answers  0 or more   taken; so many are left
--          -1          not taken: there is no such semaphore
--          -2 or less  not taken: there are too few; -2 minus how many there are, those below zero counted as none
-- Error    WRONGTYPE where the key holds no count
--
-- Applied twice: the record knows the request and its answer. It is written again, so that a replica that is waited for has
-- something to acknowledge.

--- @include "counter"
--- @include "request-record"
local wrong, free = counterError(KEYS[1])
if wrong then
  return wrong
end
local before = recordedAnswer(KEYS[2], ARGV[2], ARGV[3])
if before then
  redis.call('pexpire', KEYS[2], 60000)
  return tonumber(before)
end

local permits = tonumber(ARGV[1])
local answer
if not free then
  answer = -1
elseif tonumber(free) < permits then
  answer = -2 - math.max(tonumber(free), 0)
else
  answer = redis.call('decrby', KEYS[1], permits)
end
recordAnswer(KEYS[2], ARGV[2], answer)
return answer

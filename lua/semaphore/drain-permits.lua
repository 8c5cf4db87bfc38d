-- Takes all permits of a semaphore that are free.
--
-- KEYS[1]  the semaphore: the number of permits that are free
-- KEYS[2]  the record of the requests of this client
-- ARGV[1]  the number of this request
-- ARGV[2]  the lowest number of a request of this client whose answer it may still ask for; 0: unknown
--
-- Answers  how many there were; below zero where more had been taken away than there were. The number is 0 afterwards
-- Error    WRONGTYPE where the key holds no count
--
-- Applied twice: the record knows the request and its answer, and nothing is taken.

--- @include "counter"
--- @include "request-record"
local wrong = counterError(KEYS[1])
if wrong then
  return wrong
end
local before = recordedAnswer(KEYS[2], ARGV[1])
if before then
  return tonumber(before)
end

local free = tonumber(redis.call('get', KEYS[1]) or '0')
if free ~= 0 then
  -- Not SET, which would drop a time to live.
  redis.call('decrby', KEYS[1], free)
end
recordAnswer(KEYS[2], ARGV[1], ARGV[2], free)
return free

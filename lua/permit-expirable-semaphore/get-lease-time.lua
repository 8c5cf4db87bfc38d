-- Reads how long the lease of a permit still lasts.
--
-- KEYS[1]  the semaphore: the number of permits that are free
-- KEYS[2]  the permits in use
-- ARGV[1]  its id, 32 hexadecimal digits
--
-- Answers  the time in ms; -1: without end; -2: the permit is not in use, or its lease has ended
-- Error    WRONGTYPE where a key holds something else
--
-- Applied twice: it changes nothing.

--- @include "permits"
--- @include "server-time"
local wrong = permitsError(KEYS[1], KEYS[2])
if wrong then
  return wrong
end

local score = tonumber(redis.call('zscore', KEYS[2], bytes(ARGV[1])) or '0')
if score >= NEVER then
  return -1
end
local left = score - serverTime()
return left > 0 and left or -2

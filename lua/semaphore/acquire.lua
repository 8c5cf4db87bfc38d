-- Takes permits of a semaphore, if there are enough.
--
-- KEYS[1]  the semaphore: the number of permits that are free
-- KEYS[2]  the record of the open requests of this client
-- ARGV[1]  how many permits, 1 or more
-- ARGV[2]  the number of this request
-- ARGV[3]  the lowest number of an open request of this client; 0: not sent
--
-- Answers  0 or more   taken; this many are left
--          -1          not taken: the semaphore does not exist
--          -2 or less  not taken: too few are free; -2 minus how many are free (a negative number counts as 0)
-- Error    WRONGTYPE where the key holds no count
--
-- Applied twice: the record knows whether the request was granted. The second copy still writes, so that a WAIT after it has a
-- write to wait for. It answers the current number of free permits.

--- @include "counter"
--- @include "request-once"
local wrong, value = counterError(KEYS[1])
if wrong then
  return wrong
end

local free = tonumber(value or '0')
local permits = tonumber(ARGV[1])
local granted = free >= permits and '1' or '-1'
local before = recordOnce(KEYS[2], ARGV[2], ARGV[3], granted)
if (before or granted) == '1' then
  return before and math.max(free, 0) or redis.call('decrby', KEYS[1], ARGV[1])
end
return value and -2 - math.max(free, 0) or -1

-- Takes permits of a semaphore, if there are enough.
--
-- KEYS[1]  the semaphore: the number of permits that are free
-- KEYS[2]  the record of the requests of this client
-- ARGV[1]  how many permits, 1 or more
-- ARGV[2]  the slot of this request
-- ARGV[3]  the number of this request
--
-- Answers  0 or more   taken; this many are left
--          -1          not taken: the semaphore does not exist
--          -2          not taken: the number is below zero
--          -3 or less  not taken: too few are free; -3 minus how many are free
-- Error    WRONGTYPE where the key holds no count
--
-- Applied twice: the record knows whether the request was granted. The second copy still writes, so that a WAIT after it has a
-- write to wait for. It answers the current number of free permits.

--- @include "counter"
--- @include "request-record"
local wrong, value = counterError(KEYS[1])
if wrong then
  return wrong
end

local free = tonumber(value or '0')
local permits = tonumber(ARGV[1])
local granted = free >= permits and '1' or '-1'
local before = recordedAnswer(KEYS[2], ARGV[2], ARGV[3])
local answer = -3 - free
if before then
  redis.call('pexpire', KEYS[2], '60000')
else
  local refusal = recordAnswer(KEYS[2], ARGV[2], ARGV[3], granted)
  if refusal then
    return refusal
  end
end
if before == '1' then
  answer = math.max(free, 0)
elseif not before and granted == '1' then
  local refusal, left = changeOnce(KEYS[2], ARGV[2], 'decrby', KEYS[1], ARGV[1])
  answer = left or refusal
elseif not value then
  answer = -1
elseif free < 0 then
  answer = -2
end
return answer

-- Takes all permits of a semaphore that are free.
--
-- KEYS[1]  the semaphore: the number of permits that are free
-- KEYS[2]  the record of the requests of this client
-- ARGV[1]  the slot of this request
-- ARGV[2]  the number of this request
--
-- Answers  how many were free; below zero after permits were taken away by addPermits. The number is 0 afterwards
-- Error    WRONGTYPE where the key holds no count
--
-- Applied twice: the record knows the request and its answer, and nothing is taken.

local slot, request, record = ARGV[1], ARGV[2], KEYS[2]
--- @include "count-request"

local free = tonumber(value or '0')
local refusal = recordAnswer(record, slot, request, free)
if not refusal and free ~= 0 then
  -- The script does not use SET, because SET would remove the time to live.
  refusal = changeOnce(record, slot, 'decrby', KEYS[1], free)
end
return refusal or free

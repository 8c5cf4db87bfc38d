-- Sets the lease of a permit in use.
--
-- KEYS[1]  the semaphore: the number of permits that are free
-- KEYS[2]  the permits in use
-- KEYS[3]  the record of the requests of this client
-- ARGV[1]  the new lease in ms, from now on; 0: without end
-- ARGV[2]  the channel
-- ARGV[3]  PUBLISH or SPUBLISH
-- ARGV[4]  its id, 32 hexadecimal digits
-- ARGV[5]  the slot of this request
-- ARGV[6]  the number of this request
--
-- Answers  1   set
--          0   it is not in use, or its lease had ended
-- Error    WRONGTYPE where a key holds something else
--
-- Applied twice: the record knows the request and its answer, and a lease that was set since stays.

local slot, request, record = ARGV[5], ARGV[6], KEYS[3]
--- @include "permits-request"
--- @include "server-time"
--- @include "notify"

local now = serverTime()
local id = bytes(ARGV[4])
local score = tonumber(redis.call('zscore', KEYS[2], id) or '0')
local answer = score > now and 1 or 0
local newEnd = leaseEnd(now, ARGV[1])
local refusal = recordAnswer(record, slot, request, answer)
if not refusal and answer == 1 then
  refusal = changeOnce(record, slot, 'zadd', KEYS[2], newEnd, id)
end
if refusal then
  return refusal
end
if answer == 1 and newEnd < score then
  -- Waiters sleep until the lease that they read ends.
  notify(ARGV[3], ARGV[2], '1')
end
return answer

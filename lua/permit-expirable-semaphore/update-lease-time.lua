-- Sets the lease of a permit in use.
--
-- KEYS[1]  the semaphore: the number of permits that are free
-- KEYS[2]  the permits in use
-- ARGV[1]  the new lease in ms, from now on; 0: without end
-- ARGV[2]  the channel
-- ARGV[3]  PUBLISH or SPUBLISH
-- ARGV[4]  its id, 32 hexadecimal digits
--
-- Answers  1   set
--          0   it is not in use, or its lease had ended
-- Error    WRONGTYPE where a key holds something else
--
-- Applied twice: the lease begins again.

--- @include "permits"
--- @include "server-time"
--- @include "notify"
local wrong = permitsError(KEYS[1], KEYS[2])
if wrong then
  return wrong
end

local now = serverTime()
local id = bytes(ARGV[4])
local score = tonumber(redis.call('zscore', KEYS[2], id) or '0')
if score <= now then
  return 0
end
local newEnd = leaseEnd(now, ARGV[1])
redis.call('zadd', KEYS[2], newEnd, id)
if newEnd < score then
  -- Waiters sleep until the lease that they read ends.
  notify(ARGV[3], ARGV[2], '1')
end
return 1

-- Reads how many permits are free, and how many are in use. Releases expired permits.
--
-- KEYS[1]  the semaphore: the number of permits that are free
-- KEYS[2]  the permits in use
-- ARGV[1]  the channel
-- ARGV[2]  PUBLISH or SPUBLISH
--
-- Answers  {exists, free, in use}; exists is 0 where the semaphore does not exist
-- Error    WRONGTYPE where a key holds something else
--
-- Applied twice: the second copy releases the permits that have expired since.

--- @include "permits"
--- @include "server-time"
--- @include "notify"
local wrong, value = permitsError(KEYS[1], KEYS[2])
if wrong then
  return wrong
end

local now = serverTime()
local reclaimed = reclaim(KEYS[1], KEYS[2], now, value)
local inUse = redis.call('zcount', KEYS[2], '(' .. string.format('%.0f', now), '+inf')
local expired = redis.call('zcard', KEYS[2]) - inUse
local free = value and value + reclaimed or 0
if reclaimed > 0 and free > 0 then
  notify(ARGV[2], ARGV[1], free)
end
local exists = value and 1 or 0
return {exists, free + exists * expired, inUse}

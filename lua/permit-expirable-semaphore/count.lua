-- Reads how many permits are free, and how many are in use. Releases expired permits.
--
-- KEYS[1]  the semaphore: the number of permits that are free
-- KEYS[2]  the permits in use
-- ARGV[1]  the channel
-- ARGV[2]  PUBLISH or SPUBLISH
--
-- Answers  {permits, free, in use}; there are no permits where the semaphore does not exist
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
if not value then
  return {0, 0, inUse}
end
local expired = redis.call('zcard', KEYS[2]) - inUse
local free = value + reclaimed
if reclaimed > 0 and free > 0 then
  notify(ARGV[2], ARGV[1], free)
end
return {free + expired + inUse, free + expired, inUse}

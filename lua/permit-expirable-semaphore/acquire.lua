-- Takes permits, if there are enough.
--
-- KEYS[1]  the semaphore: the number of permits that are free
-- KEYS[2]  the permits in use
-- ARGV[1]  how long they are leased, in ms; 0: without end
-- ARGV[2]  the channel
-- ARGV[3]  PUBLISH or SPUBLISH
-- ARGV[4]  the moment after which this call may do nothing any more, by the server's clock in ms; 0: none
-- ARGV[5]  how many permits
-- ARGV[6…] their new ids, 32 hexadecimal digits each
--
-- Answers  {1, now}              taken
--          {0, now, free, wait}  too few are free: their number, and in how many ms the next lease ends; -1: unknown
--          {-1, now}             the semaphore does not exist
--          {2, now}              too late: nothing was changed
--          where now is the time by the server's clock in ms
-- Error    WRONGTYPE where a key holds something else
--
-- Applied twice: the permits are in use already, and their leases begin again. A late copy, after the release of its permits,
-- takes them again before its deadline, and does nothing after it.

--- @include "permits"
--- @include "server-time"
--- @include "notify"
local wrong, value = permitsError(KEYS[1], KEYS[2])
if wrong then
  return wrong
end

local now = serverTime()
local deadline = tonumber(ARGV[4])
if deadline > 0 and now > deadline then
  return {2, now}
end

local newEnd = leaseEnd(now, ARGV[1])
local permits = tonumber(ARGV[5])
local ids = {}
local isOut = 0
for i = 6, #ARGV do
  local id = bytes(ARGV[i])
  ids[#ids + 1] = id
  if redis.call('zscore', KEYS[2], id) then
    isOut = isOut + 1
  end
end
if isOut > 0 and isOut < permits then
  -- Some of them have expired since: the script takes all of them again.
  for _, id in ipairs(ids) do
    redis.call('zrem', KEYS[2], id)
  end
  if value then
    value = redis.call('incrby', KEYS[1], isOut)
  end
  isOut = 0
end

local reclaimed = 0
if isOut == 0 then
  reclaimed = reclaim(KEYS[1], KEYS[2], now)
  if not value then
    return {-1, now}
  end
  local free = tonumber(value) + reclaimed
  if free < permits then
    if reclaimed > 0 and free > 0 then
      notify(ARGV[3], ARGV[2], free)
    end
    local nearest = tonumber(redis.call('zrange', KEYS[2], 0, 0, 'withscores')[2] or NEVER)
    return {0, now, math.max(free, 0), nearest >= NEVER and -1 or math.max(nearest - now, 1)}
  end
end
-- Before the count is changed: if the set is empty, and a slot migration has moved its key away, the script ends here.
for _, id in ipairs(ids) do
  redis.call('zadd', KEYS[2], newEnd, id)
end
if isOut == 0 then
  redis.call('decrby', KEYS[1], permits)
end
setTimeToLive(KEYS[1], KEYS[2])
if reclaimed > permits then
  local free = tonumber(redis.call('get', KEYS[1]))
  if free > 0 then
    notify(ARGV[3], ARGV[2], free)
  end
end
return {1, now}

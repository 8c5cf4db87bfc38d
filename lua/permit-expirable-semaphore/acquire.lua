-- Takes permits, if there are enough.
--
-- KEYS[1]  the semaphore: the number of permits that are free
-- KEYS[2]  the permits in use
-- ARGV[1]  how long they are leased, in ms; 0: without end
-- ARGV[2]  the channel
-- ARGV[3]  PUBLISH or SPUBLISH
-- ARGV[4]  how many permits
-- ARGV[5…] their new ids, 32 hexadecimal digits each
--
-- Answers  {1, free}        taken, and how many are left
--          {0, free, wait}  too few are free: their number, and in how many ms the next lease ends; -1: unknown
--          {-1}             the semaphore does not exist
-- Error    WRONGTYPE where a key holds something else
--
-- Applied twice: the permits that are in use already stay in use, and no lease gets shorter. The script takes only those that
-- have expired since. A late copy, after the release of its permits, takes them again, if so many are free.

--- @include "permits"
--- @include "server-time"
--- @include "notify"
local wrong, value = permitsError(KEYS[1], KEYS[2])
if wrong then
  return wrong
end

local now = serverTime()
local ids = {}
for i = 5, #ARGV do
  ids[#ids + 1] = bytes(ARGV[i])
end

-- The permits of this call that are in use already: an earlier copy took them.
local ends, inUse
local function findInUse()
  ends, inUse = {}, 0
  for i, id in ipairs(ids) do
    ends[i] = tonumber(redis.call('zscore', KEYS[2], id) or '0')
    inUse = inUse + (ends[i] > 0 and 1 or 0)
  end
end

findInUse()
local permits = tonumber(ARGV[4])
local reclaimed = 0
if inUse < permits then
  reclaimed = reclaim(KEYS[1], KEYS[2], now, value)
  if not value then
    return {-1}
  end
  if inUse > 0 and reclaimed > 0 then
    findInUse()
  end
  local free = tonumber(value) + reclaimed
  if free + inUse < permits then
    if reclaimed > 0 and free > 0 then
      notify(ARGV[3], ARGV[2], free)
    end
    local nearest = tonumber(redis.call('zrange', KEYS[2], 0, 0, 'withscores')[2] or NEVER)
    return {0, math.max(free, 0), nearest >= NEVER and -1 or math.max(nearest - now, 1)}
  end
end
local left = tonumber(value or '0')
if inUse < permits then
  left = redis.call('decrby', KEYS[1], permits - inUse)
end
-- Where the server refuses a command from here on, DECRBY takes back what it did: the user has the right to it. A slot migration may
-- have moved the key of an empty set away, too.
local newEnd = leaseEnd(now, ARGV[1])
local refusal, life = setTimeToLive(KEYS[1], KEYS[2])
for i, id in ipairs(ids) do
  local added = refusal or redis.pcall('zadd', KEYS[2], math.max(newEnd, ends[i]), id)
  if type(added) == 'table' then
    if inUse < permits then
      redis.call('decrby', KEYS[1], inUse - permits)
    end
    return added
  end
end
if life > 0 then
  -- The set may be new.
  setTimeToLive(KEYS[1], KEYS[2])
end
if reclaimed > permits - inUse and left > 0 then
  notify(ARGV[3], ARGV[2], left)
end
return {1, left}

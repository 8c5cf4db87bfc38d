-- The queue of a fair lock, as Java has it. KEYS[2] is a list of owner fields, in order of arrival. KEYS[3] is a sorted set
-- of the same owners. The score of an owner is the moment at which its place lapses, in ms. Java takes the time of the client
-- for that, and this library takes the server's. Each script of this library changes both keys or neither.
--
-- A client of this library has an id of UUID version 8; a Java client has one of version 4. A place of this library
-- lapses after a short allowance, and its client refreshes it at every third of that time. A Java place lapses after the time for which its caller
-- would wait. A Java caller that acquires subtracts its own wait from the scores of all places behind it. So the score of
-- a place of this library contains its allowance and the waits of all Java places ahead of it.
--
-- queueError(): returns an error if one of the two keys holds something else. Called before the first write. It counts the
--   places for isEmpty() and firstInQueue(); a script that changes their number calls countPlaces().
-- firstInQueue(now, allowance): repairs list and set if they differ, and drops lapsed places at the head. Returns the owner at
--   the head, when its place lapses, and how many places were dropped.
-- walk(from, sum, slices, now, visit, endOfSlice): visits the places of this library from an index on, each with the sum of the waits of the
--   Java places ahead of it. Returns the index where it stopped, 0 at the end, and the sum there.

--- @include "server-time"
--- @include "notify"
--- @include "refused"

-- SLICE places are read at a time. One script reads SLICES slices at most.
local SLICE = 500
local SLICES = 20

local places, scored

local function countPlaces()
  places = redis.pcall('llen', KEYS[2])
  scored = redis.pcall('zcard', KEYS[3])
end

local function queueError()
  countPlaces()
  if isRefused(places) then
    return places
  end
  if isRefused(scored) then
    return scored
  end
  if type(places) == 'table' or type(scored) == 'table' then
    return redis.error_reply('WRONGTYPE the queue of a fair lock is a list and a sorted set')
  end
end

local function isEmpty()
  return places == 0 and scored == 0
end

local function isOfThisLibrary(owner)
  return string.sub(owner, 15, 15) == '8'
end

-- Repairs list and set. A place without a score gets one, so that it lapses. A score without a place gets one. If an owner has
-- two places, the later one is removed.
local function heal(now, allowance)
  if places == scored then
    return
  end
  local placed, twice = {}, {}
  local from = 0
  for _ = 1, SLICES do
    local owners = redis.call('lrange', KEYS[2], from, from + SLICE - 1)
    if #owners == 0 then
      break
    end
    local scores = redis.call('zmscore', KEYS[3], unpack(owners))
    for i, owner in ipairs(owners) do
      if placed[owner] then
        twice[#twice + 1] = owner
      elseif not scores[i] then
        redis.call('zadd', KEYS[3], now + allowance, owner)
      end
      placed[owner] = true
    end
    from = from + #owners
  end
  for i = 1, math.min(#twice, SLICE) do
    redis.call('lrem', KEYS[2], -1, twice[i])
  end
  if from == SLICE * SLICES then
    return
  end
  for slice = 0, SLICES - 1 do
    local owners = redis.call('zrange', KEYS[3], slice * SLICE, slice * SLICE + SLICE - 1)
    for _, owner in ipairs(owners) do
      if not placed[owner] then
        redis.call('rpush', KEYS[2], owner)
      end
    end
    if #owners < SLICE then
      return
    end
  end
end

-- Drops the places at the head that have lapsed, slice by slice.
local function sweep(now)
  local swept = 0
  for _ = 1, SLICES do
    local owners = redis.call('lrange', KEYS[2], 0, SLICE - 1)
    if #owners == 0 then
      return swept
    end
    local scores = redis.call('zmscore', KEYS[3], unpack(owners))
    local lapsed = 0
    while lapsed < #owners and scores[lapsed + 1] and tonumber(scores[lapsed + 1]) <= now do
      lapsed = lapsed + 1
    end
    if lapsed > 0 then
      redis.call('ltrim', KEYS[2], lapsed, -1)
      redis.call('zrem', KEYS[3], unpack(owners, 1, lapsed))
    end
    swept = swept + lapsed
    if lapsed < SLICE then
      return swept
    end
  end
  return swept
end

-- Limits the scores of the places at the head to `latest`. No Java place is ahead of them any more, so their allowance is enough.
local function limitHeads(latest)
  for _, owner in ipairs(redis.call('lrange', KEYS[2], 0, SLICE - 1)) do
    if not isOfThisLibrary(owner) then
      return
    end
    if tonumber(redis.call('zscore', KEYS[3], owner) or latest) > latest then
      redis.call('zadd', KEYS[3], latest, owner)
    end
  end
end

local function firstInQueue(now, allowance)
  if isEmpty() then
    return nil, 0, 0
  end
  heal(now, allowance)
  local swept = 0
  local head = redis.call('lindex', KEYS[2], 0)
  local score = head and redis.call('zscore', KEYS[3], head)
  if score and tonumber(score) <= now then
    swept = sweep(now)
    head = redis.call('lindex', KEYS[2], 0)
    score = head and redis.call('zscore', KEYS[3], head)
  end
  if not head then
    return nil, 0, swept
  end
  local latest = now + allowance
  if not score then
    redis.call('zadd', KEYS[3], latest, head)
    return head, latest, swept
  end
  if tonumber(score) > latest and isOfThisLibrary(head) then
    limitHeads(latest)
    return head, latest, swept
  end
  return head, tonumber(score), swept
end

-- The wait of a Java place: the difference between its score and the score before it. It is exact behind another Java place.
-- Behind a place of this library, or at the head, the earlier score has changed since. Then the wait is rounded up to a minute, or
-- to Java's default of five.
local function javaWait(difference, isExact)
  if isExact then
    return math.max(difference, 0)
  end
  if difference <= 60000 then
    return 60000
  end
  return difference <= 345000 and 300000 or difference
end

local function walk(from, sum, slices, now, visit, endOfSlice)
  local previous
  for _ = 1, slices do
    local owners = redis.call('lrange', KEYS[2], from, from + SLICE - 1)
    for _, owner in ipairs(owners) do
      if isOfThisLibrary(owner) then
        visit(owner, sum)
        previous = nil
      else
        local score = tonumber(redis.call('zscore', KEYS[3], owner) or now)
        sum = sum + javaWait(score - (previous or now + sum), previous ~= nil)
        previous = score
      end
    end
    endOfSlice()
    if #owners < SLICE then
      return 0, sum
    end
    from = from + SLICE
  end
  return from, sum
end

-- Acquires a free lock for the owner at the head of its queue, or enters the queue.
--
-- KEYS[1]  the lock: a hash of one field, the owner, whose value is the hold count
-- KEYS[2]  the queue: a list of owner fields, in order of arrival
-- KEYS[3]  when each place in the queue lapses: a sorted set
-- ARGV[1]  the owner field, <clientId>:<threadId>; every acquisition has one of its own
-- ARGV[2]  the lease in ms
-- ARGV[3]  the allowance of a place in ms
-- ARGV[4]  1: an owner that does not acquire enters the queue; 0: it does not
-- ARGV[5]  the beginning of an owner's channel: <channel>:
-- ARGV[6]  PUBLISH or SPUBLISH
--
-- Answers  nil        acquired
--          { 0, ms }  not acquired, and not in the queue
--          { 1, ms }  in the queue
--          where ms is how long the lock or the place at the head lasts without any command, -1 without expiry
-- Error    WRONGTYPE where a key holds something else
--
-- Applied twice: the second copy finds the owner field, or its place, and answers like the first. If the first acquired, the
-- second still writes, so that a WAIT after it waits until a replica has the first copy's write, too. A late copy, after the
-- owner has left, takes a free lock until its lease ends, or enters a place that lapses: no client refreshes it.

local lease = tonumber(ARGV[2])
--- @include "check-lease"
--- @include "fair-queue"

local remaining = redis.call('pttl', KEYS[1])
if remaining ~= -2 then
  if redis.call('hexists', KEYS[1], ARGV[1]) == 1 then
    redis.call('pexpire', KEYS[1], math.max(lease, remaining))
    return nil
  end
  if redis.call('hlen', KEYS[1]) > 1 then
    return redis.error_reply('WRONGTYPE a lock has one field, this hash has more')
  end
end
local wrong = queueError()
if wrong then
  return wrong
end

local now = serverTime()
local allowance = tonumber(ARGV[3])
local latest = now + allowance
-- The owner of the place is alive, so the place must not be dropped now, even if its refresh is late.
local place = not isEmpty() and redis.call('zscore', KEYS[3], ARGV[1])
if place and tonumber(place) < latest then
  redis.call('zadd', KEYS[3], latest, ARGV[1])
end

local head, lapses, swept = firstInQueue(now, allowance)
if remaining == -2 then
  if not head or head == ARGV[1] then
    if head then
      redis.call('lpop', KEYS[2])
      redis.call('zrem', KEYS[3], ARGV[1])
    end
    -- The number is passed as text, because Redis converts a number from Lua by way of a float.
    redis.call('hincrby', KEYS[1], ARGV[1], '1')
    redis.call('pexpire', KEYS[1], ARGV[2])
    return nil
  end
  if swept > 0 then
    notify(ARGV[6], ARGV[5] .. head, '0')
  end
  remaining = math.max(1, math.ceil(lapses - now))
end

if ARGV[4] == '0' then
  return { 0, remaining }
end
if not place and not redis.call('zscore', KEYS[3], ARGV[1]) then
  local last = redis.call('lindex', KEYS[2], -1)
  if last and isOfThisLibrary(last) then
    latest = math.max(latest, tonumber(redis.call('zscore', KEYS[3], last) or 0))
  elseif last then
    local _, sum = walk(0, 0, SLICES, now, function() end, function() end)
    latest = latest + sum
  end
  redis.call('rpush', KEYS[2], ARGV[1])
  redis.call('zadd', KEYS[3], latest, ARGV[1])
end
return { 1, remaining }

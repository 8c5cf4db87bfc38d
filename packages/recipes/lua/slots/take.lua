-- Takes the lowest free number.
--
-- KEYS[1]  the numbers in use
-- ARGV[1]  how many numbers there are, 10,000 at most
-- ARGV[2]  the owner, <clientId>:<threadId>; each call has one of its own
-- ARGV[3]  the lease in ms
--
-- Answers  {1, number}  taken
--          {0, wait}    all are in use; in how many ms the next lease ends
-- Error    WRONGTYPE where the key holds something else
--
-- Applied twice: the owner keeps its number, and its lease begins again. A late copy, after the release, takes a number for one
-- lease.

local lease = tonumber(ARGV[3])
--- @include "check-lease"
--- @include "server-time"
--- @include "slots"

local now = serverTime()
local number = redis.call('zscore', KEYS[1], ARGV[2])
if not number then
  -- The numbers of dead owners. A call takes 8,000 words at most.
  local ended = redis.call('zrangebyscore', KEYS[1], FIRST_LEASE, now)
  for first = 1, #ended, 1000 do
    local members = {}
    for at = first, math.min(first + 999, #ended) do
      members[#members + 1] = ended[at]
      members[#members + 1] = string.sub(ended[at], 1, -7)
    end
    redis.call('zrem', KEYS[1], unpack(members))
  end

  local count = tonumber(ARGV[1])
  local function areAllInUse(below)
    return redis.call('zcount', KEYS[1], 0, below - 1) == below
  end
  if areAllInUse(count) then
    local nearest = redis.call('zrangebyscore', KEYS[1], FIRST_LEASE, '+inf', 'withscores', 'limit', 0, 1)
    return {0, math.max(nearest[2] - now, 1)}
  end
  -- All numbers below `number` are in use, and one below `high` is free: 14 steps for 10,000 numbers.
  local high = count
  number = 0
  while high - number > 1 do
    local middle = math.floor((number + high) / 2)
    if areAllInUse(middle) then
      number = middle
    else
      high = middle
    end
  end
end

keep(KEYS[1], ARGV[2], number, now + lease)
return {1, tonumber(number)}

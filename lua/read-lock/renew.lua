-- Renews the leases of several read holds, and of no others; each answers for itself.
--
-- KEYS     the locks, all in one slot where there is a cluster; at most lockWatchdogBatchSize
-- ARGV[1]  the lease in ms; never shortens what a key still has
-- ARGV[3i-1]  the owner field of the hold on KEYS[i]
-- ARGV[3i], ARGV[3i+1]  what stands before and behind an owner field in the name of its clocks
--
-- Answers  an array, for each key
--          when its lease ends now, by the server's clock in ms: renewed, the key and the clock of each level
--          0   the hold is gone: nothing was changed, a lock is never resurrected
--
-- A key that holds something else counts as gone and does not fail the others.

local function ends(key)
  local now = redis.call('time')
  return now[1] * 1000 + math.floor(now[2] / 1000) + redis.call('pttl', key)
end

local lease = tonumber(ARGV[1])
local answers = {}
for i, key in ipairs(KEYS) do
  local owner, before, behind = ARGV[3 * i - 1], ARGV[3 * i], ARGV[3 * i + 1]
  local count = redis.pcall('hget', key, owner)
  if type(count) == 'string' then
    for level = 1, tonumber(count) or 0 do
      local clock = before .. owner .. behind .. level
      redis.call('set', clock, '1', 'px', math.max(lease, redis.call('pttl', clock)))
    end
    redis.call('pexpire', key, math.max(lease, redis.call('pttl', key)))
    answers[i] = ends(before .. owner .. behind .. count)
  else
    answers[i] = 0
  end
end
return answers

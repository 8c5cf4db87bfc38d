-- Renews the leases of several read holds, and of no others; each answers for itself.
--
-- KEYS     the locks, all in one slot where there is a cluster; at most lockWatchdogBatchSize
-- ARGV[1]  the lease in ms; never shortens what a key still has
-- ARGV[3i-1]  the owner field of the hold on KEYS[i]
-- ARGV[3i], ARGV[3i+1]  what stands before and behind an owner field in the names of its read timeout keys
--
-- Answers  an array, for each key
--          when its lease ends now, by the server's clock in ms: renewed, the key and the read timeout key of each level
--          0   the hold is gone: nothing was changed, a lock is never resurrected
--
-- A key that holds something else counts as gone and does not fail the others.
--
-- By PEXPIRE: a server out of memory refuses a SET, unless a write command came before it in the script. A read
-- timeout key that is gone though its hold is there is set anew; in a hold of more than GAP levels only the top level's:
-- by it the hold lives, and a release to a lower level sets that level's.

--- @include "lease-end"
--- @include "read-levels"

local lease = tonumber(ARGV[1])
local answers = {}
for i, key in ipairs(KEYS) do
  local owner, before, behind = ARGV[3 * i - 1], ARGV[3 * i], ARGV[3 * i + 1]
  local count = redis.pcall('hget', key, owner)
  if type(count) == 'string' then
    local levels = tonumber(count) or 0
    eachLevel(1, levels, function(level)
      local timeoutKey = before .. owner .. behind .. level
      if redis.call('pexpire', timeoutKey, math.max(lease, redis.call('pttl', timeoutKey))) == 1 then
        return true
      end
      if levels <= GAP or tonumber(level) == levels then
        redis.call('set', timeoutKey, '1', 'px', lease)
      end
      return false
    end)
    redis.call('pexpire', key, math.max(lease, redis.call('pttl', key)))
    answers[i] = ends(before .. owner .. behind .. count)
  else
    answers[i] = 0
  end
end
return answers

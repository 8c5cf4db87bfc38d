--!df flags=allow-undeclared-keys
-- Renews the leases of several read holds, with an answer for each.
--
-- KEYS     the locks, all in one slot where there is a cluster; at most lockWatchdogBatchSize
-- ARGV[1]  the lease in ms; never shortens what a key still has
-- ARGV[3i-1]  the owner field of the hold on KEYS[i]
-- ARGV[3i], ARGV[3i+1]  the parts before and after an owner field in the names of its read timeout keys
--
-- Answers  an array, for each key
--          when its lease ends now, by the server's clock in ms: renewed, the key and the read timeout key of each level
--          0   the hold is gone: nothing was changed, because a renewal must not create a lock
--
-- A key that holds something else counts as gone, and the other keys are still renewed. If the server refuses the command, no
-- hold counts as gone: the answer is that error.
--
-- The script uses PEXPIRE: a server without free memory refuses SET, unless a write command came before it in the script. A
-- read timeout key that is gone although its hold exists is set again. In a hold of more than GAP levels only the key of the
-- top level is: the hold lives by that key, and a release to a lower level sets the key of that level.

--- @include "lease-end"
--- @include "refused"
--- @include "read-levels"

local lease = tonumber(ARGV[1])
local answers = {}
for i, key in ipairs(KEYS) do
  local owner, before, behind = ARGV[3 * i - 1], ARGV[3 * i], ARGV[3 * i + 1]
  local count = redis.pcall('hget', key, owner)
  if isRefused(count) then
    return count
  end
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
    answers[i] = leaseEndOf(before .. owner .. behind .. count)
  else
    answers[i] = 0
  end
end
return answers

-- Renews the leases of several holds, with an answer for each.
--
-- KEYS     the locks, all in one slot where there is a cluster; at most lockWatchdogBatchSize
-- ARGV[1]  the lease in ms; never shortens what a key still has
-- ARGV[i+1] the owner field of the hold on KEYS[i]
--
-- Answers  an array, for each key
--          when its lease ends now, by the server's clock in ms: renewed
--          0   the hold is gone: nothing was changed, because a renewal must not create a lock
--
-- A key that holds something else counts as gone, and the other keys are still renewed. If the server refuses the command, no
-- hold counts as gone: the answer is that error.

--- @include "renew-each"

return renewEach(function(key, owner)
  local held = redis.pcall('hexists', key, owner)
  return held, held == 1
end)

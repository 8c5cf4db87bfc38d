-- Extends the lease of a new hold: the answer to its acquisition came so late that the lease may have ended since.
--
-- KEYS[1]  the lock
-- ARGV[1]  the token
-- ARGV[2]  the lease in ms; never shortens what the key still has
--
-- Answers  when the lease ends now, by the server's clock in ms
--          0   the hold is gone: nothing was changed
-- Error    WRONGTYPE where the key is no string
--
-- Applied twice: the second copy extends the same hold again. It never creates a lock.

local lease = tonumber(ARGV[2])
--- @include "check-lease"
--- @include "lease-end"

if redis.call('get', KEYS[1]) ~= ARGV[1] then
  return 0
end
redis.call('pexpire', KEYS[1], math.max(lease, redis.call('pttl', KEYS[1])))
return leaseEndOf(KEYS[1])

-- Gives a hold a lease once more: its grant was answered so late that it may have run out on the way.
--
-- KEYS[1]  the lock
-- ARGV[1]  the token
-- ARGV[2]  the lease in ms; never shortens what the key still has
--
-- Answers  when the lease ends now, by the server's clock in ms
--          0   the hold is gone: nothing was changed
-- Error    WRONGTYPE where the key is no string
--
-- Applied twice: the second copy extends the same hold again; it makes no lock.

local lease = tonumber(ARGV[2])
--- @include "check-lease"
--- @include "lease-end"

if redis.call('get', KEYS[1]) ~= ARGV[1] then
  return 0
end
redis.call('pexpire', KEYS[1], math.max(lease, redis.call('pttl', KEYS[1])))
return ends(KEYS[1])

-- Acquires a free token lock for a new hold: SET key token NX PX lease, but safe to send again.
--
-- KEYS[1]  the lock: a string, the token of its holder
-- ARGV[1]  the token; every hold has one of its own
-- ARGV[2]  the lease in ms
--
-- Answers  nil       acquired
--          integer   held by another owner; the remaining TTL of the key in ms, -1 without expiry
-- Error    WRONGTYPE where the key is no string
--
-- Applied twice: the second copy finds its own token and answers "acquired". It still writes, so that a WAIT after it waits
-- until a replica has the first copy's write, too.

local lease = tonumber(ARGV[2])
--- @include "check-lease"

local holder = redis.call('get', KEYS[1])
if not holder then
  redis.call('set', KEYS[1], ARGV[1], 'px', ARGV[2])
  return nil
end

local remaining = redis.call('pttl', KEYS[1])
if holder == ARGV[1] then
  redis.call('pexpire', KEYS[1], math.max(lease, remaining))
  return nil
end

return remaining

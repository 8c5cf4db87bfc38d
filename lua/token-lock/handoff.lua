-- Hands a lock from one hold to the next of the same client: a release and an acquisition with nothing in between.
--
-- KEYS[1]  the lock
-- ARGV[1]  the token of the hold that ends
-- ARGV[2]  the token of the hold that begins
-- ARGV[3]  the lease of the one that begins, in ms
--
-- Answers  nil  handed off
--          0    the one that ends was not held: nothing was changed
-- Error    WRONGTYPE where the key is no string
--
-- No client is notified: to all others the lock is held before and after.
--
-- Applied twice: the second copy finds the new token and answers "handed off"; it writes all the same, so that a WAIT
-- behind it waits for the first copy's write too. Late, it finds neither token: both are used for one hold and never again.

local lease = tonumber(ARGV[3])
--- @include "check-lease"

local holder = redis.call('get', KEYS[1])
if holder == ARGV[1] then
  redis.call('set', KEYS[1], ARGV[2], 'px', ARGV[3])
  return nil
end

if holder == ARGV[2] then
  redis.call('pexpire', KEYS[1], math.max(lease, redis.call('pttl', KEYS[1])))
  return nil
end

return 0

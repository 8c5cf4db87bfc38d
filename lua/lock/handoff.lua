-- Hands a lock off, from one hold to the next of the same client: a release and an acquisition with nothing in between.
--
-- KEYS[1]  the lock
-- ARGV[1]  the owner field of the hold that ends
-- ARGV[2]  the owner field of the hold that begins
-- ARGV[3]  the lease of the one that begins, in ms
--
-- Answers  nil  handed off
--          0    the one that ends was not held: nothing was changed
-- Error    WRONGTYPE where the key is no hash
--
-- No message is published: to all other clients the lock is held before and after.
--
-- Applied twice: the second copy finds the new owner, leaves its count alone and answers "handed off"; it writes all
-- the same, so that a WAIT behind it waits for the first copy's write too. Late, it finds neither owner: both fields
-- are used for one hold and never again.

local lease = tonumber(ARGV[3])
--- @include "check-lease"

if redis.call('hdel', KEYS[1], ARGV[1]) == 1 then
  -- As text: a number would be printed as a float first.
  redis.call('hincrby', KEYS[1], ARGV[2], '1')
  redis.call('pexpire', KEYS[1], ARGV[3])
  return nil
end

if redis.call('hexists', KEYS[1], ARGV[2]) == 1 then
  redis.call('pexpire', KEYS[1], math.max(lease, redis.call('pttl', KEYS[1])))
  return nil
end

return 0

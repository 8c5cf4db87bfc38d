-- Hands a lock from one hold of a client to the next: a release and an acquisition in one step.
--
-- KEYS[1]  the lock
-- ARGV[1]  the owner field of the hold that ends
-- ARGV[2]  the owner field of the hold that begins
-- ARGV[3]  the lease of the hold that begins, in ms
--
-- Answers  nil  handed off
--          0    the hold that ends did not exist: nothing was changed
-- Error    WRONGTYPE where the key is no hash
--
-- No message is published: for all other clients the lock is held before and after.
--
-- Applied twice: the second copy finds the new owner, keeps its count and answers "handed off". It still writes, so that a
-- WAIT after it waits for the first copy's write, too. A late copy finds neither owner, because each field belongs to one
-- hold.

local lease = tonumber(ARGV[3])
--- @include "check-lease"

if redis.call('hdel', KEYS[1], ARGV[1]) == 1 then
  -- The number is passed as text, because Redis converts a number from Lua by way of a float.
  redis.call('hincrby', KEYS[1], ARGV[2], '1')
  redis.call('pexpire', KEYS[1], ARGV[3])
  return nil
end

if redis.call('hexists', KEYS[1], ARGV[2]) == 1 then
  redis.call('pexpire', KEYS[1], math.max(lease, redis.call('pttl', KEYS[1])))
  return nil
end

return 0

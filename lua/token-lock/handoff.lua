-- Hands a lock from one hold of a client to the next: a release and an acquisition in one step.
--
-- KEYS[1]  the lock
-- ARGV[1]  the token of the hold that ends
-- ARGV[2]  the token of the hold that begins
-- ARGV[3]  the lease of the hold that begins, in ms
--
-- Answers  nil  handed off
--          0    the hold that ends did not exist: nothing was changed
-- Error    WRONGTYPE where the key is no string
--
-- No message is published: for all other clients the lock is held before and after.
--
-- Applied twice: the second copy finds the new token and answers "handed off". It still writes, so that a WAIT after it waits
-- for the first copy's write, too. A late copy finds neither token, because each token belongs to one hold.

local lease = tonumber(ARGV[3])
--- @include "check-lease"

local holder = redis.call('get', KEYS[1])
if holder == ARGV[1] then
  -- First a command that needs no memory: a server without free memory allows the commands of a script after its first write.
  redis.call('pexpire', KEYS[1], ARGV[3])
  redis.call('set', KEYS[1], ARGV[2], 'px', ARGV[3])
  return nil
end

if holder == ARGV[2] then
  redis.call('pexpire', KEYS[1], math.max(lease, redis.call('pttl', KEYS[1])))
  return nil
end

return 0

-- Takes one level off a lock that is a hash from owner to hold count. No message is published: waiters poll.
--
-- KEYS[1]  the lock
-- ARGV[1]  the owner field
-- ARGV[2]  the lease of the levels that remain, in ms
--
-- Answers  nil   not the caller's, nothing was changed
--          0     still held
--          1     free

if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then
  return nil
end
if redis.call('hincrby', KEYS[1], ARGV[1], -1) > 0 then
  redis.call('pexpire', KEYS[1], ARGV[2])
  return 0
end
redis.call('del', KEYS[1])
return 1

-- Takes a lock that is a hash from owner to hold count, as Redisson's, if it is free or the caller's.
--
-- KEYS[1]  the lock
-- ARGV[1]  the owner field
-- ARGV[2]  the lease in ms
--
-- Answers  nil       acquired
--          integer   held by another: the key's remaining time to live in ms

if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[1]) == 1 then
  redis.call('hincrby', KEYS[1], ARGV[1], 1)
  redis.call('pexpire', KEYS[1], ARGV[2])
  return nil
end
return redis.call('pttl', KEYS[1])

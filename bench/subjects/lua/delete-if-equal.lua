-- Releases a lock that SET NX PX took, if it is still the caller's.
--
-- KEYS[1]  the lock: a string
-- ARGV[1]  what the caller set it to
--
-- Answers  1   released
--          0   it was not the caller's, and is as it was

if redis.call('get', KEYS[1]) == ARGV[1] then
  return redis.call('del', KEYS[1])
end
return 0

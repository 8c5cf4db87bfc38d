-- Reads the state of a lock.
--
-- KEYS[1]  the lock
-- ARGV[1]  a token to compare, or the empty string
--
-- Answers  { time to live in ms, -1 without expiry, -2 without key;
--            1 if that token holds it, else 0;
--            the SHA-1 of the holder's token, nothing where the lock is free }
-- Error    WRONGTYPE where the key is no string

local holder = redis.call('get', KEYS[1])
if not holder then
  return { -2, 0 }
end
return { redis.call('pttl', KEYS[1]), holder == ARGV[1] and 1 or 0, redis.sha1hex(holder) }

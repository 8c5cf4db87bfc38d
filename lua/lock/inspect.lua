-- Reads the state of a lock.
--
-- KEYS[1]  the lock
-- ARGV[1]  an owner field to count, or the empty string
--
-- Answers  { time to live in ms, -1 without expiry, -2 without key;
--            the hold count of that owner, 0 if it holds nothing;
--            the field of the holder, nothing where the lock is free }
-- Error    WRONGTYPE where the key holds no plain lock

if redis.call('hlen', KEYS[1]) > 1 then
  return redis.error_reply('WRONGTYPE a lock has one field, this hash has more')
end

local count = 0
if ARGV[1] ~= '' then
  count = tonumber(redis.call('hget', KEYS[1], ARGV[1]) or '0')
end
return { redis.call('pttl', KEYS[1]), count, redis.call('hkeys', KEYS[1])[1] }

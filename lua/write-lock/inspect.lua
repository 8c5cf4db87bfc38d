-- Reads the state of the write side of a read-write lock.
--
-- KEYS[1]  the lock
-- ARGV[1]  an owner field to count, or the empty string
--
-- Answers  { time to live in ms, -1 without expiry, -2 without key;
--            the hold count of that owner, 0 if it holds nothing;
--            the field of the writer, none where there is no writer }
-- Error    WRONGTYPE where the key holds no read-write lock

local answer = { redis.call('pttl', KEYS[1]), 0 }
--- @include "read-write-mode"
if ARGV[1] ~= '' then
  answer[2] = tonumber(redis.call('hget', KEYS[1], ARGV[1]) or '0')
end
if mode ~= 'write' then
  return answer
end

for _, field in ipairs(redis.call('hkeys', KEYS[1])) do
  if string.sub(field, -6) == ':write' then
    answer[#answer + 1] = field
  end
end
return answer

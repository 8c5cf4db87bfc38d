-- Reads the state of the read side of a read-write lock.
--
-- KEYS[1]  the lock
-- ARGV[1]  an owner field to count, or the empty string
--
-- Answers  { time to live in ms, -1 without expiry, -2 without key;
--            the hold count of that owner, 0 if it holds nothing;
--            the fields of the read holds, none where the read side is free … }
-- Error    WRONGTYPE where the key holds no read-write lock

local answer = { redis.call('pttl', KEYS[1]), 0 }
--- @include "read-write-mode"

for _, field in ipairs(redis.call('hkeys', KEYS[1])) do
  if field ~= 'mode' and string.sub(field, -6) ~= ':write' then
    answer[#answer + 1] = field
  end
end
if ARGV[1] ~= '' then
  answer[2] = tonumber(redis.call('hget', KEYS[1], ARGV[1]) or '0')
end
return answer

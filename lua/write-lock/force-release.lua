--!df flags=allow-undeclared-keys
-- Ends the write hold of any client, if it is still the hold that the client saw.
--
-- KEYS[1]  the lock
-- ARGV[1], ARGV[2]  the parts before and after an owner field in the names of its read timeout keys
-- ARGV[3]  the channel
-- ARGV[4]  PUBLISH or SPUBLISH
-- ARGV[5]  the owner field of the writer
--
-- Answers  0   that writer is gone: nothing was changed
--          2   freed, and no client listened
--          { 2, how many clients were notified }   freed, with the read hold of the writer
--          3   freed, but the server refused the message (ACL)
-- Error    WRONGTYPE where the key is no hash
--
-- Applied twice or late: a newer writer has another field and stays.

if redis.call('hexists', KEYS[1], ARGV[5]) == 0 then
  return 0
end

--- @include "read-levels"
local fields = redis.call('hgetall', KEYS[1])
for i = 1, #fields, 2 do
  if fields[i] ~= 'mode' and string.sub(fields[i], -6) ~= ':write' then
    eachLevel(1, tonumber(fields[i + 1]) or 0, function(level)
      return redis.call('del', ARGV[1] .. fields[i] .. ARGV[2] .. level) == 1
    end)
  end
end
redis.call('del', KEYS[1])
--- @include "notify-freed"
return notifyFreed(ARGV[4], ARGV[3], '1')

-- Releases permits.
--
-- KEYS[1]  the semaphore: the number of permits that are free
-- KEYS[2]  the permits in use
-- ARGV[1]  1: release all of them, or none if one is not in use or has expired
-- ARGV[2]  the channel
-- ARGV[3]  PUBLISH or SPUBLISH
-- ARGV[4…] the ids, 32 hexadecimal digits each
--
-- Answers  a list: first 1 where the waiters were notified, 2 where the server refused the message (ACL), or 3 where no message
--          was due; then for each id
--          1   it was in use, and is free again, unless ARGV[1] is 1 and another permit was not in use
--          -1  its lease had ended; it is free again, with the same exception
--          0   it was not in use
-- Error    WRONGTYPE where a key holds something else
--
-- Applied twice: the ids are not in use any more.

--- @include "permits"
--- @include "server-time"
--- @include "notify"
local wrong, value = permitsError(KEYS[1], KEYS[2])
if wrong then
  return wrong
end

local now = serverTime()
local ids, areKnown = {}, {}
local out = 0
local answer = {3}
local areAllOut = true
for i = 4, #ARGV do
  local id = bytes(ARGV[i])
  ids[#ids + 1] = id
  local score = redis.call('zscore', KEYS[2], id)
  local state = not score and 0 or tonumber(score) > now and 1 or -1
  areAllOut = areAllOut and state == 1
  answer[i - 2] = state
  if score and not areKnown[id] then
    areKnown[id] = true
    out = out + 1
  end
end
if ARGV[1] == '1' and not areAllOut then
  return answer
end

-- No member has an empty name. This ZREM finds out whether the server refuses the others, and is a write that needs no memory.
redis.call('zrem', KEYS[2], '')
-- If the count was lost, no client knows how many permits there are in all. setPermits() repairs that.
local free = out > 0 and value and redis.call('incrby', KEYS[1], out)
for _, id in ipairs(ids) do
  redis.call('zrem', KEYS[2], id)
end
if free and free > 0 then
  answer[1] = notify(ARGV[3], ARGV[2], free) and 1 or 2
end
return answer

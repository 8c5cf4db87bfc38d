-- Renews the leases of permits in use, with an answer for each.
--
-- KEYS[1…]   for each permit, the sorted set that contains it
-- ARGV[1]    the new lease in ms, from now on
-- ARGV[i+1]  the id of the permit in KEYS[i], 32 hexadecimal digits
--
-- Answers  for each permit when its lease ends now, by the server's clock in ms; 0: it is not in use, or its lease had ended
--
-- If the server refuses the command, no permit counts as gone: the answer is that error.
--
-- Applied twice: the leases begin again.

--- @include "permits"
--- @include "refused"
--- @include "server-time"
local now = serverTime()
local answer = {}
for i = 1, #KEYS do
  local id = bytes(ARGV[i + 1])
  local score = redis.pcall('zscore', KEYS[i], id)
  if isRefused(score) then
    return score
  end
  local known = type(score) == 'string' and tonumber(score) or 0
  answer[i] = 0
  if known > now then
    -- A longer lease stays as it is.
    local newEnd = math.max(known, leaseEnd(now, ARGV[1]))
    -- A server without free memory refuses ZADD, unless the script has written before. This ZREM is such a write: no member
    -- has an empty name.
    redis.call('zrem', KEYS[i], '')
    redis.call('zadd', KEYS[i], newEnd, id)
    answer[i] = newEnd
  end
end
return answer

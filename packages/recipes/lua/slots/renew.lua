-- Renews the leases of numbers, with an answer for each.
--
-- KEYS      for each number, the set that contains it
-- ARGV[1]   the lease in ms
-- ARGV[i+1] the owner of the number in KEYS[i]
--
-- Answers  an array, for each number
--          when its lease ends now, by the server's clock in ms: renewed
--          0   it is not in use, or its lease had ended
--
-- A key that holds something else counts as gone. If the server refuses the command, no number counts as gone: the answer is
-- that error.
--
-- Applied twice: the leases begin again.

--- @include "refused"
--- @include "server-time"
--- @include "slots"

local now = serverTime()
local answers = {}
for i, key in ipairs(KEYS) do
  local owner = ARGV[i + 1]
  local leaseEnd = redis.pcall('zscore', key, owner .. ':lease')
  if isRefused(leaseEnd) then
    return leaseEnd
  end
  answers[i] = 0
  if type(leaseEnd) == 'string' and tonumber(leaseEnd) > now then
    -- A server without free memory refuses ZADD, unless the script has written before. This ZREM is such a write: no owner has an
    -- empty name.
    redis.call('zrem', key, '')
    answers[i] = math.max(tonumber(leaseEnd), now + ARGV[1])
    keep(key, owner, redis.call('zscore', key, owner), answers[i])
  end
end
return answers

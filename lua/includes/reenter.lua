-- reenter(key, owner, lease, count, wanted, seen): raises the hold count of an owner from `count` to `wanted`, the count that
-- the client wants. A late copy does not lower it. Gives the key a lease that is long enough for the new level. `seen` is the
-- end of the lease that the last partial release saw; the new lease gets another end, so that a late copy of that release
-- knows that it is late. Returns when the lease ends, by the server's clock in ms.

--- @include "server-time"
--- @include "distinct-lease-end"
local function reenter(key, owner, lease, count, wanted, seen)
  local now = serverTime()
  if wanted > count then
    redis.call('hincrby', key, owner, wanted - count)
  end
  local longest = distinctLease(now, math.max(lease, redis.call('pttl', key)), seen)
  redis.call('pexpire', key, longest)
  return now + longest
end

-- The rule of partial releases: a late or second copy must not remove a newer level of its hold, and must not shorten a newer
-- lease. Only the client changes the count, and it sends the count that it wants.
--
-- More levels than wanted: the release is in time if the lease ends when the client last saw it end. If the lease ends at
-- another time, the release is a late copy, or a renewal was applied whose answer the client has not seen. Then the script
-- must change nothing and answer the lease end.
-- As many levels as wanted, or fewer: this is a second or late copy. The count stays, and a lease may only get longer.
--
-- unseenEnd(key, count, wanted, seen): returns nil if the release may go on. Otherwise returns when the lease of `key` ends, or
-- 0 without a lease. `seen` is the lease end that the client last saw.
-- setLease(key, count, wanted, lease): sets the lease of a release that may go on. Called before the count changes: PEXPIRE needs
-- no memory, and a server without free memory allows the commands of a script after its first write.

--- @include "lease-end"
local function unseenEnd(key, count, wanted, seen)
  if count <= wanted then
    return nil
  end
  -- A lease that has ended, or was removed from the key, has no fixed end, so the answer is 0.
  local leaseEnd = redis.call('pttl', key) < 0 and 0 or leaseEndOf(key)
  -- Before Redis 7 the time advances while a script runs, so the same end may differ by a millisecond or two.
  if math.abs(leaseEnd - tonumber(seen)) > 2 then
    return leaseEnd
  end
end

local function setLease(key, count, wanted, lease)
  if count > wanted or lease > redis.call('pttl', key) then
    redis.call('pexpire', key, lease)
  end
end

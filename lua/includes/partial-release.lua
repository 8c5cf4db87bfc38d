-- The rule of partial releases: a copy that comes late or a second time takes no newer level off its hold, and shortens
-- no newer lease. The client is the only author of the count, and says which count it wants.
--
-- More levels than wanted: the release comes in time if the lease ends when the client last saw it end. By any other end
-- it is a late copy, or a renewal was faster than its answer: nothing may be changed, and the answer says the end.
-- As many levels as wanted, or fewer: a second copy or a late one. The count stays, and a lease may only get longer.
--
-- unseenEnd(key, count, wanted, seen): nothing where the release may go on, else when the lease of `key` ends, 0 where
-- it has none. `seen` is when the client last saw it end.
-- setLease(key, count, wanted, lease): sets the lease of a release that may go on.

--- @include "lease-end"
local function unseenEnd(key, count, wanted, seen)
  if count <= wanted then
    return nil
  end
  -- A lease that has run out, or that was taken off the key, has no end that the next look would see again.
  local leaseEnd = redis.call('pttl', key) < 0 and 0 or ends(key)
  -- Before Redis 7 the time goes on while a script runs, so the same end may differ by a millisecond or two.
  if math.abs(leaseEnd - tonumber(seen)) > 2 then
    return leaseEnd
  end
end

local function setLease(key, count, wanted, lease)
  if count > wanted or lease > redis.call('pttl', key) then
    redis.call('pexpire', key, lease)
  end
end

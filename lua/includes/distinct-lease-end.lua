-- distinctLease(now, lease, seen): returns the lease, or a slightly longer one if it would end at the same time as `seen`, by the
-- server's clock in ms. A partial release recognises by the lease end whether it is a late copy (partial-release.lua). So a
-- new lease must not end when an old one did.

local function distinctLease(now, lease, seen)
  if math.abs(now + lease - tonumber(seen)) > 2 then
    return lease
  end
  return tonumber(seen) + 3 - now
end

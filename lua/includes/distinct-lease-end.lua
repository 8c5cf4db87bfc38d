-- apart(now, lease, seen): the lease, or a slightly longer one where it would end when `seen` did, by the server's
-- clock in ms. A partial release tells by the end of the lease whether it comes in time (partial-release.lua), so a
-- new lease must not end when an old one did.

local function apart(now, lease, seen)
  if math.abs(now + lease - tonumber(seen)) > 2 then
    return lease
  end
  return tonumber(seen) + 3 - now
end

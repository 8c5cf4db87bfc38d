-- leaseEndOf(key): returns when the lease of a key ends, by the server's clock in ms.

--- @include "server-time"
local function leaseEndOf(key)
  return serverTime() + redis.call('pttl', key)
end

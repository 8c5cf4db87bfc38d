-- notifyFreed(publish, channel, message): publishes that a lock is free. Returns the answer of the script: { 2, how many clients were
-- notified }, 2 if no client listened, or 3 if the server refused the message (ACL).

--- @include "notify"

local function notifyFreed(publish, channel, message)
  local heard = notify(publish, channel, message)
  if not heard then
    return 3
  end
  return heard == 0 and 2 or { 2, heard }
end

-- How a request that changes an expirable semaphore begins. Reads the local variables `slot` and `request`, the slot and
-- the number of the request, and `record`, the key of the record. The count is KEYS[1], the permits in use are KEYS[2].
--
-- Sets `value`, the count as text, or false where the key is absent.
--
-- Ends the script with an error where a key holds something else, and with the recorded answer where an earlier copy of the
-- request was applied.

--- @include "permits"
local wrong, value = permitsError(KEYS[1], KEYS[2])
if wrong then
  return wrong
end
--- @include "request"

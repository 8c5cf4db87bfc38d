-- How a request that changes a count begins. Reads the local variables `slot` and `request`, the slot and
-- the number of the request, and `record`, the key of the record. The count is KEYS[1].
--
-- Sets `value`, the count as text, or false where the key is absent.
--
-- Ends the script with an error where the key holds no count, and with the recorded answer where an earlier copy of the
-- request was applied.

--- @include "counter"
local wrong, value = counterError(KEYS[1])
if wrong then
  return wrong
end
--- @include "request"

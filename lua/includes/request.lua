-- How a request begins whose record alone says whether it was applied. Reads the local variables `slot` and `request`, the slot
-- and the number of the request, and `record`, the key of the record.
--
-- Ends the script with the recorded answer where an earlier copy of the request was applied.

--- @include "request-record"

local before = recordedAnswer(record, slot, request)
if before then
  return tonumber(before)
end

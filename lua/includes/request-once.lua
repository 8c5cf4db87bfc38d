-- The same record as in request-record.lua, for a script that knows its answer before its first write.
--
-- recordOnce(record, request, lowest, answer, isKept): the request is applied now. Returns nothing, or, where it was applied
-- before, what it was answered then, as text. The record expires a minute after its last use. `isKept`: the script has seen
-- to that already.

--- @include "forget-requests"
local function recordOnce(record, request, lowest, answer, isKept)
  local before
  if redis.call('hsetnx', record, request, answer) == 0 then
    before = redis.call('hget', record, request)
  end
  if not isKept then
    redis.call('pexpire', record, '60000')
  end
  forgetBelow(record, lowest, request)
  return before
end

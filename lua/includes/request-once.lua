-- The same record as in request-record.lua, for a script that knows its answer before its first write.
--
-- recordOnce(record, request, lowest, answer, isKept): records the request with its answer and returns nil. If the request was
-- applied before, changes nothing and returns its recorded answer, as text. The record expires a minute after its last use.
-- `isKept`: the script has set that expiry already.

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

-- The same record as in request-record.lua, for a script that knows its answer before its first write.
--
-- recordOnce(record, request, answer, isKept): records the request with its answer and returns nil. If the request was
-- applied before, changes nothing and returns its recorded answer, as text. The record expires a minute after its last use.
-- `isKept`: the script has set that expiry already.
-- changeOnce(record, request, command, key, number): the change that was recorded just now. If the user may not do it, takes the
-- record back and returns the error, so that the request can be sent again.
--
-- The script calls forgetBelow() (forget-requests.lua) last: a refusal there leaves a change and its record.

--- @include "forget-requests"
local function recordOnce(record, request, answer, isKept)
  local before
  if redis.call('hsetnx', record, request, answer) == 0 then
    before = redis.call('hget', record, request)
  end
  if not isKept then
    redis.call('pexpire', record, '60000')
  end
  return before
end

local function changeOnce(record, request, command, key, number)
  local result = redis.pcall(command, key, number)
  if type(result) == 'table' then
    redis.call('hdel', record, request)
  end
  return result
end

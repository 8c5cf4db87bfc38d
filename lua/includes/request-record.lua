-- The record of the requests of one client to one object. An object without owners needs it to recognise a second copy of a
-- request. It is a hash with a field for each request in flight, and the field is the slot of the request. Its value is the
-- number of the request and its answer. The client gives a slot to another request when it needs no answer to the one before
-- it. Numbers only rise, so a late copy is recognised by its lower number.
--
-- recordedAnswer(record, slot, request): returns the answer of this request, as text, or nil if it was not applied yet. For a
-- request whose slot has a newer one it returns any answer, and true behind it: the client does not read the answer.
-- recordAnswer(record, slot, request, answer): records the answer, before the change: where the server refuses that, nothing was
-- changed. The record expires a minute after its last use. Returns an error where the server refuses the expiry.
-- changeOnce(record, slot, command, …): runs a command of a request whose answer was recorded just now. Returns nil and its result,
-- or an error where the server refuses it. Then the record is as before the request, so that the request can be sent again.
--
-- What is taken back, is taken back by the command that wrote it: the user has the right to that one.

-- What the slot had before this request.
local earlier
local function recordedAnswer(record, slot, request)
  earlier = redis.call('hget', record, slot)
  local number, answer = string.match(earlier or '', '^(%d+) (.*)$')
  if number and tonumber(number) >= tonumber(request) then
    return answer, tonumber(number) > tonumber(request)
  end
end

local function changeOnce(record, slot, ...)
  local result = redis.pcall(...)
  if type(result) ~= 'table' or not result.err then
    return nil, result
  end
  -- No request has the number 0.
  redis.call('hset', record, slot, earlier or '0 ')
  if not earlier then
    redis.pcall('hdel', record, slot)
  end
  return result
end

local function recordAnswer(record, slot, request, answer)
  redis.call('hset', record, slot, request .. ' ' .. answer)
  return (changeOnce(record, slot, 'pexpire', record, '60000'))
end

-- The record of the requests of one client to one object. An object without owners needs it to recognise a second copy of a
-- request. It is a hash with a field for each request in flight, and the field is the slot of the request. Its value is the
-- number of the request and its answer. The client gives a slot to another request when it needs no answer to the one before
-- it. Numbers only rise, so a late copy is recognised by its lower number.
--
-- recordedAnswer(record, slot, request): returns the answer of this request, as text, or nil if it was not applied yet. For a
-- request whose slot has a newer one it returns any answer, and true behind it: the client does not read the answer.
-- recordAnswer(record, slot, request, answer): records the answer. The record expires a minute after its last use.
-- changeOnce(record, slot, command, key, number): a change whose answer was recorded just now. If the user may not do it,
-- takes the record back and returns the error, so that the request can be sent again.

local function recordedAnswer(record, slot, request)
  local newest = redis.call('hget', record, slot)
  local number, answer = string.match(newest or '', '^(%d+) (.*)$')
  if number and tonumber(number) >= tonumber(request) then
    return answer, tonumber(number) > tonumber(request)
  end
end

local function recordAnswer(record, slot, request, answer)
  redis.call('hset', record, slot, request .. ' ' .. answer)
  redis.call('pexpire', record, '60000')
end

local function changeOnce(record, slot, command, key, number)
  local result = redis.pcall(command, key, number)
  if type(result) == 'table' then
    redis.call('hdel', record, slot)
  end
  return result
end

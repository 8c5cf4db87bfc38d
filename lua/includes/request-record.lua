-- The requests of one client to one object whose answers it may still ask for: a sorted set, scored by the numbers of the
-- requests, which rise. An object that knows no owners needs it: by it a second copy of a request is known.
--
-- recordedAnswer(record, request, lowest): what this request was answered, as text, or nothing where it was not applied yet.
-- Forgets the requests below `lowest`: the client has seen their answers, and no copy of them can arrive. It says so now and
-- then; 0 means nothing.
-- recordAnswer(record, request, answer): the request was applied. The record expires a minute after its last use.
-- passShortage(record): for what frees. A server that is short of memory refuses what may take some, unless the script has
-- written before.

local function recordedAnswer(record, request, lowest)
  if lowest ~= '0' then
    redis.call('zremrangebyscore', record, '-inf', '(' .. lowest)
  end
  local found = redis.call('zrangebyscore', record, request, request)[1]
  return found and string.sub(found, #request + 2)
end

local function recordAnswer(record, request, answer)
  redis.call('zadd', record, request, request .. ':' .. answer)
  redis.call('pexpire', record, 60000)
end

local function passShortage(record)
  redis.call('pexpire', record, 60000)
end

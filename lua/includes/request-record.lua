-- The record of the open requests of one client to one object: a hash from the number of a request to its answer. Numbers
-- only rise. An object without owners needs the record to recognise a second copy of a request.
--
-- recordedAnswer(record, request): returns the answer of this request, as text, or nil if it was not applied yet.
-- recordAnswer(record, request, lowest, answer): records the answer of an applied request, and forgets the requests below
-- `lowest` (forget-requests.lua). The record expires a minute after its last use.

--- @include "forget-requests"
local function recordedAnswer(record, request)
  return redis.call('hget', record, request)
end

local function recordAnswer(record, request, lowest, answer)
  redis.call('hset', record, request, answer)
  redis.call('pexpire', record, '60000')
  forgetBelow(record, lowest, request)
end

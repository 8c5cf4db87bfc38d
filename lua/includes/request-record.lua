-- The requests of one client to one object whose answers it may still ask for: a hash from the numbers of the requests, which
-- rise, to their answers. An object that knows no owners needs it: by it a second copy of a request is known.
--
-- recordedAnswer(record, request): what this request was answered, as text, or nothing where it was not applied yet.
-- recordAnswer(record, request, lowest, answer): the request was applied. Forgets the requests below `lowest`, see
-- forget-requests.lua. The record expires a minute after its last use.

--- @include "forget-requests"
local function recordedAnswer(record, request)
  return redis.call('hget', record, request)
end

local function recordAnswer(record, request, lowest, answer)
  redis.call('hset', record, request, answer)
  redis.call('pexpire', record, '60000')
  forgetBelow(record, lowest, request)
end

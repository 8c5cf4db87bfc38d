-- isRefused(answer): whether the server refused a command that was called by `redis.pcall`, because of a missing right, for
-- example. False for an ordinary answer, and for WRONGTYPE: then the key holds something else.

local function isRefused(answer)
  return type(answer) == 'table' and answer.err and not string.find(answer.err, 'WRONGTYPE', 1, true)
end

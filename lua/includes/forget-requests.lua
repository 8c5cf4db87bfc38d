-- forgetBelow(record, lowest, keep): removes the requests below the number `lowest` from a record, except `keep`. The
-- client has seen their answers, and no copy of them can arrive. It sends `lowest` now and then; '0': it sent none. To be
-- called after the request was recorded: an empty record is a missing key, and while its slot migrates a script breaks
-- off at a missing key.

-- So many requests are looked at in one script at most; from where on differs from one to the next.
local LOOKED_AT = 5000

local function forgetBelow(record, lowest, keep)
  if lowest == '0' then
    return
  end
  local requests = redis.call('hkeys', record)
  local answered = {}
  lowest = tonumber(lowest)
  for i = 1, math.min(#requests, LOOKED_AT) do
    local request = requests[(i + lowest) % #requests + 1]
    if tonumber(request) < lowest and request ~= keep then
      answered[#answered + 1] = request
    end
  end
  if #answered > 0 then
    redis.call('hdel', record, unpack(answered))
  end
end

-- forgetBelow(record, lowest, keep): removes the requests below the number `lowest` from a record, except `keep`. The
-- client has seen their answers, and no copy of them can arrive. Most requests send '0' as `lowest`: then nothing is removed.
-- Called after the request was recorded: an empty record is a missing key, and during a migration of its slot a script ends
-- at a missing key.

-- The most requests that one call checks. Each call begins at another place.
local MOST_CHECKED = 5000

local function forgetBelow(record, lowest, keep)
  if lowest == '0' then
    return
  end
  local requests = redis.call('hkeys', record)
  local answered = {}
  lowest = tonumber(lowest)
  for i = 1, math.min(#requests, MOST_CHECKED) do
    local request = requests[(i + lowest) % #requests + 1]
    if tonumber(request) < lowest and request ~= keep then
      answered[#answered + 1] = request
    end
  end
  if #answered > 0 then
    redis.call('hdel', record, unpack(answered))
  end
end

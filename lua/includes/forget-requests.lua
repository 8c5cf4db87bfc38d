-- forgetBelow(record, lowest, keep): a record of requests forgets those below this number, but not the one to keep. The client
-- has seen their answers, and no copy of them can arrive. It says so now and then; '0' means nothing. Comes after the request
-- was recorded: a record that is empty for a moment is a key that a slot on the move has lost, and the script ends there.

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

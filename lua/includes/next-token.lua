-- nextToken(key, seen): draws the next fencing token, which is greater than `seen`, a token that the client saw. Returns a list with
-- the token as text, because clients read large integers inexactly. Where the counter was behind `seen`, because a failover lost
-- it or a client set it back, the list has a second element: the counter as it was. The counter never expires: otherwise tokens
-- would start again at 1.
-- lastToken(key): returns the newest token, as text.
-- tokenError(key, seen): returns an error if the counter is not usable. Called before the first write.

--- @include "refused"
local LAST_TOKEN = 9007199254740991

local function tokenError(key, seen)
  local token = redis.pcall('get', key)
  if token and isRefused(token) then
    return token
  end
  if token and (type(token) == 'table' or not string.find(token, '^%d+$')) then
    return redis.error_reply('WRONGTYPE the token counter ' .. key .. ' holds no number')
  end
  token = token or '0'
  if #token > 16 or math.max(tonumber(token), tonumber(seen)) >= LAST_TOKEN then
    return redis.error_reply('ERR the token counter ' .. key .. ' is used up')
  end
end

local function nextToken(key, seen)
  local token = redis.call('incr', key)
  local answer = { string.format('%.0f', token) }
  if token <= tonumber(seen) then
    answer[2] = string.format('%.0f', token - 1)
    answer[1] = string.format('%.0f', seen + 1)
    redis.call('incrby', key, string.format('%.0f', seen + 1 - token))
  end
  redis.call('persist', key)
  return answer
end

local function lastToken(key)
  return redis.call('get', key) or '0'
end

-- nextToken(key): draws the next fencing token. Returns it as text, because clients read large integers inexactly. The counter
-- never expires: otherwise tokens would start again at 1.
-- lastToken(key): returns the newest token, as text.
-- tokenError(key): returns an error if the counter is not usable. Called before the first write.

--- @include "refused"
local LAST_TOKEN = 9007199254740991

local function tokenError(key)
  local token = redis.pcall('get', key)
  if not token then
    return nil
  end
  if isRefused(token) then
    return token
  end
  if type(token) == 'table' or not string.find(token, '^%d+$') then
    return redis.error_reply('WRONGTYPE the token counter ' .. key .. ' holds no number')
  end
  if #token > 16 or tonumber(token) >= LAST_TOKEN then
    return redis.error_reply('ERR the token counter ' .. key .. ' is used up')
  end
end

local function nextToken(key)
  local token = redis.call('incr', key)
  redis.call('persist', key)
  return string.format('%.0f', token)
end

local function lastToken(key)
  return redis.call('get', key) or '0'
end

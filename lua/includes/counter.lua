-- counterError(key): checks a key that must hold a whole number or be absent. Returns an error if it holds something else, or
-- if the server refuses to read it. Otherwise returns nil, and then the number as text, or false where the key is absent.

--- @include "refused"
local function counterError(key)
  local value = redis.pcall('get', key)
  if isRefused(value) then
    return value
  end
  if type(value) == 'table' or (value and not string.find(value, '^-?%d+$')) then
    return redis.error_reply('WRONGTYPE the key holds no count')
  end
  return nil, value
end

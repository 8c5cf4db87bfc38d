-- counterError(key): checks a key that must hold a whole number or be absent. Returns an error if it holds something else.
-- Otherwise returns nil, and then the number as text, or false where the key is absent.

local function counterError(key)
  local value = redis.pcall('get', key)
  if type(value) == 'table' or (value and not string.find(value, '^-?%d+$')) then
    return redis.error_reply('WRONGTYPE the key holds no count')
  end
  return nil, value
end

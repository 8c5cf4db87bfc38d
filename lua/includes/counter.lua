-- counterError(key): what is wrong with a key that is to hold a whole number or be absent; where it is in order nothing, and
-- second the number as text, false where it is absent.

local function counterError(key)
  local value = redis.pcall('get', key)
  if type(value) == 'table' or (value and not string.find(value, '^-?%d+$')) then
    return redis.error_reply('WRONGTYPE the key holds no count')
  end
  return nil, value
end

-- serverTime(): returns the time by the server's clock, in ms.

local function serverTime()
  local now = redis.call('time')
  return now[1] * 1000 + math.floor(now[2] / 1000)
end

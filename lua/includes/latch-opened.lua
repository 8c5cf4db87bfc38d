-- When a latch was last opened by a client of this library, by the server's clock in µs, as text. A waiter that heard no message
-- learns from it that the latch was open, even if the count was set again since. Kept for ten minutes.
--
-- lastOpened(key): returns that moment, and how many µs ago it was; '' and -1 where it is not known.

local function micros(now)
  return now[1] * 1000000 + now[2]
end

local function lastOpened(key)
  local opened = redis.call('get', key)
  if not opened then
    return '', -1
  end
  return opened, micros(redis.call('time')) - opened
end

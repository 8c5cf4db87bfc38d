-- Reads how a rate limiter was set.
--
-- KEYS[1]  the limiter
--
-- Answers  a list, as text: the rate, the interval in ms, 0 or 1 for its type, and the keepAliveTime in ms; empty where it was never set
-- Error    WRONGTYPE where the key holds something else
--
-- Applied twice: it changes nothing.

local kind = redis.call('hget', KEYS[1], 'type')
if not kind then
  return {}
end
local rate = redis.call('hget', KEYS[1], 'rate')
local interval = redis.call('hget', KEYS[1], 'interval')
return {rate, interval, kind, redis.call('hget', KEYS[1], 'keepAliveTime') or '0'}

-- Sets the rate of a limiter.
--
-- KEYS[1]  the limiter
-- KEYS[2]  how many permits are left
-- KEYS[3]  the grants of the last interval
-- KEYS[4]  how many permits are left for this client
-- KEYS[5]  the grants of the last interval to this client
-- KEYS[6]  the record of the requests of this client
-- ARGV[1]  the rate
-- ARGV[2]  the interval in ms
-- ARGV[3]  0: for all clients together, 1: for each client
-- ARGV[4]  for how long the limiter stays after its last use, in ms; 0: for ever
-- ARGV[5]  0: whether it has a rate or not; 1: only if it has one; 2: only if it has none, and without changing what is left
-- ARGV[6]  1: the grants of the last interval count, unless the type is another one
-- ARGV[7]  the channel
-- ARGV[8]  PUBLISH or SPUBLISH
-- ARGV[9]  the slot of this request
-- ARGV[10] the number of this request
--
-- Answers  1   set, and the waiters were notified
--          2   set, but the server refused the message (ACL)
--          0   it has no rate, or one already, against ARGV[5]: nothing was changed
-- Error    WRONGTYPE where a key holds something else
--
-- Applied twice: the record knows the request and its answer, and nothing is changed.

local slot, request, record = ARGV[9], ARGV[10], KEYS[6]
--- @include "request"
--- @include "server-time"
--- @include "rate-limiter"
--- @include "notify-once"
local kind = redis.call('hget', KEYS[1], 'type')
local answer = ARGV[5] == (kind and '2' or '1') and 0 or 1
local refusal = recordAnswer(record, slot, request, answer)
if refusal or answer == 0 then
  return refusal or answer
end
refusal = changeOnce(record, slot, 'hset', KEYS[1], 'rate', ARGV[1], 'interval', ARGV[2], 'type', ARGV[3], 'keepAliveTime',
  ARGV[4])
if refusal then
  return refusal
end
if kind and kind ~= ARGV[3] then
  redis.call('del', KEYS[2], KEYS[3], KEYS[4], KEYS[5])
end
local rate, interval, left, grants, keepAliveTime = readLimiter()
if ARGV[6] == '1' then
  local ended = redis.call('zcount', grants, '-inf', serverTime() - interval)
  if ended > 0 then
    redis.call('zremrangebyrank', grants, 0, ended - 1)
  end
  redis.call('set', left, math.max(0, rate - used(grants, 0)))
elseif ARGV[5] ~= '2' then
  redis.call('del', left, grants)
end
keepAlive(keepAliveTime, left, grants)
return notifyOnce(answer, ARGV[8], ARGV[7], rate)

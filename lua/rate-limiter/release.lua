-- Gives permits back to a rate limiter before their interval has ended. As in Java the grants stay, so these permits come back a second
-- time when their interval ends, and the rate is the bound.
--
-- KEYS[1]  the limiter
-- KEYS[2]  how many permits are left
-- KEYS[3]  the grants of the last interval
-- KEYS[4]  how many permits are left for this client
-- KEYS[5]  the grants of the last interval to this client
-- KEYS[6]  the record of the requests of this client
-- ARGV[1]  how many permits, 1 or more
-- ARGV[2]  the channel
-- ARGV[3]  PUBLISH or SPUBLISH
-- ARGV[4]  the slot of this request
-- ARGV[5]  the number of this request
--
-- Answers  1   given back, and the waiters were notified
--          2   given back, but the server refused the message (ACL)
--          -1  the limiter was never set
-- Error    WRONGTYPE where a key holds something else
--
-- Applied twice: the record knows the request and its answer, and nothing is added.

local slot, request, record = ARGV[4], ARGV[5], KEYS[6]
--- @include "request"
--- @include "rate-limiter"
--- @include "notify-once"
local rate, _, left, grants, keepAliveTime = readLimiter()
local value = rate and math.min(rate, (redis.call('get', left) or rate) + ARGV[1])
local answer = rate and 1 or -1
local refusal = recordAnswer(record, slot, request, answer)
  or (rate and changeOnce(record, slot, 'set', left, value))
if refusal then
  return refusal
end
if rate then
  keepAlive(keepAliveTime, left, grants)
end
return notifyOnce(answer, ARGV[3], ARGV[2], value)

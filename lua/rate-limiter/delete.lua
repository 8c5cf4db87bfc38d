-- Deletes a rate limiter, and notifies its waiters.
--
-- KEYS[1]  the limiter
-- KEYS[2]  how many permits are left
-- KEYS[3]  the grants of the last interval
-- KEYS[4]  how many permits are left for this client
-- KEYS[5]  the grants of the last interval to this client
-- KEYS[6]  the record of the requests of this client
-- ARGV[1]  the channel
-- ARGV[2]  PUBLISH or SPUBLISH
-- ARGV[3]  the slot of this request
-- ARGV[4]  the number of this request
--
-- Answers  1   deleted, and the waiters were notified
--          2   deleted, but the server refused the message (ACL)
--          0   there was none
-- Error    WRONGTYPE where the key holds something else
--
-- Applied twice: the record knows the request and its answer, also after the limiter was set again.

local slot, request, record = ARGV[3], ARGV[4], KEYS[6]
--- @include "request"
--- @include "notify-once"
--- @include "pass-shortage"
local answer = redis.call('hexists', KEYS[1], 'type')
passShortage(record)
recordAnswer(record, slot, request, answer)
local refusal = changeOnce(record, slot, 'del', KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5])
if refusal then
  return refusal
end
return notifyOnce(answer, ARGV[2], ARGV[1], 0)

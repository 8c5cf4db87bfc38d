-- Sets the rate of a limiter that has none.
--
-- KEYS[1]  the limiter
-- KEYS[2]  the record of the requests of this client
-- ARGV[1]  the rate
-- ARGV[2]  the interval in ms
-- ARGV[3]  0: for all clients together, 1: for each client
-- ARGV[4]  for how long the limiter stays after its last use, in ms; 0: for ever
-- ARGV[5]  the slot of this request
-- ARGV[6]  the number of this request
--
-- Answers  1   set
--          0   it has a rate already: nothing was changed
-- Error    WRONGTYPE where the key holds something else
--
-- Applied twice: the record knows the request and its answer, also after the limiter was deleted.

--- @include "request-record"
local before = recordedAnswer(KEYS[2], ARGV[5], ARGV[6])
if before then
  return tonumber(before)
end
local answer = 1 - redis.call('hexists', KEYS[1], 'type')
local refusal = recordAnswer(KEYS[2], ARGV[5], ARGV[6], answer)
if answer == 1 and not refusal then
  refusal = changeOnce(KEYS[2], ARGV[5], 'hset', KEYS[1], 'rate', ARGV[1], 'interval', ARGV[2], 'keepAliveTime', ARGV[4],
    'type', ARGV[3])
end
if refusal then
  return refusal
end
if answer == 1 and ARGV[4] ~= '0' then
  redis.call('pexpire', KEYS[1], ARGV[4])
end
return answer

-- Sets the number of permits of a semaphore that does not exist yet.
--
-- KEYS[1]  the semaphore: the number of permits that are free
-- KEYS[2]  the record of the requests of this client
-- ARGV[1]  how many permits, 0 or more
-- ARGV[2]  the time to live of the semaphore in ms; 0: no expiry
-- ARGV[3]  the channel
-- ARGV[4]  PUBLISH or SPUBLISH
-- ARGV[5]  the slot of this request
-- ARGV[6]  the number of this request
--
-- Answers  1   set, and the waiters were notified
--          0   it exists already: nothing was changed
--          2   set, but the server refused the message (ACL)
--          3   set, and no message was due
-- Error    WRONGTYPE where the key holds no count
--
-- Applied twice: the record knows the request and its answer, also after the semaphore was deleted.

local slot, request, record = ARGV[5], ARGV[6], KEYS[2]
--- @include "count-request"

local answer = value and 0 or tonumber(ARGV[1]) > 0 and 1 or 3
local refusal = recordAnswer(record, slot, request, answer)
  or (not value and changeOnce(record, slot, 'set', KEYS[1], ARGV[1]))
if refusal then
  return refusal
end
if not value and ARGV[2] ~= '0' then
  redis.call('pexpire', KEYS[1], ARGV[2])
end
--- @include "notify-once"
return notifyOnce(answer, ARGV[4], ARGV[3], ARGV[1])

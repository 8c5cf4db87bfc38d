-- Sets how many permits there are in all, also those in use.
--
-- KEYS[1]  the semaphore: the number of permits that are free
-- KEYS[2]  the permits in use
-- KEYS[3]  the record of the requests of this client
-- ARGV[1]  how many permits, 0 or more
-- ARGV[2]  1: only if the semaphore does not exist
-- ARGV[3]  the channel
-- ARGV[4]  PUBLISH or SPUBLISH
-- ARGV[5]  the slot of this request
-- ARGV[6]  the number of this request
--
-- Answers  1   set, and the waiters were notified
--          0   it exists already, against ARGV[2]: nothing was changed
--          2   set, but the server refused the message (ACL)
--          3   set, and no message was due
-- Error    WRONGTYPE where a key holds something else
--
-- Applied twice: the record knows the request and its answer, and a number that was set since stays.

local slot, request, record = ARGV[5], ARGV[6], KEYS[3]
--- @include "permits-request"
--- @include "server-time"

if value and ARGV[2] == '1' then
  return recordAnswer(record, slot, request, 0) or 0
end
local reclaimed = reclaim(KEYS[1], KEYS[2], serverTime(), value)
local unset = setTimeToLive(KEYS[1], KEYS[2])
if unset then
  return unset
end
local freeBefore = value and value + reclaimed or 0
local free = ARGV[1] - redis.call('zcard', KEYS[2])
local answer = free > 0 and (free > freeBefore or reclaimed > 0) and 1 or 3
-- The script does not use SET, because SET would remove the time to live.
local refusal = recordAnswer(record, slot, request, answer)
  or changeOnce(record, slot, 'incrby', KEYS[1], free - freeBefore)
if refusal then
  return refusal
end
--- @include "notify-once"
return notifyOnce(answer, ARGV[4], ARGV[3], free)

-- Cancels an acquisition of a semaphore. The permits that it was granted are free again, and a late copy of it is refused.
--
-- KEYS[1]  the semaphore: the number of permits that are free
-- KEYS[2]  the record of the requests of this client
-- ARGV[1]  how many permits the acquisition asked for
-- ARGV[2]  the channel
-- ARGV[3]  PUBLISH or SPUBLISH
-- ARGV[4]  1: the client has read that the acquisition was granted, so this counts where the record has expired; 0 otherwise
-- ARGV[5]  the slot of the acquisition's request
-- ARGV[6]  the number of the acquisition's request
--
-- Answers  0   it was granted nothing, or its permits were released already
--          1   its permits are free again, and the waiters were notified
--          2   its permits are free again, but the server refused the message (ACL)
--          3   its permits are free again, and no message was due
-- Error    WRONGTYPE where the key holds no count
--
-- Applied twice: the record then says that the acquisition was granted nothing. A late copy, whose slot another request has by
-- then, changes nothing.

--- @include "counter"
--- @include "request-record"
--- @include "pass-shortage"
local wrong, value = counterError(KEYS[1])
if wrong then
  return wrong
end
local before, isLate = recordedAnswer(KEYS[2], ARGV[5], ARGV[6])
if isLate then
  return 0
end
before = before or (ARGV[4] == '1' and '1')
passShortage(KEYS[2])
recordAnswer(KEYS[2], ARGV[5], ARGV[6], -1)
if not before or tonumber(before) < 0 or not value then
  return 0
end
local refusal, free = changeOnce(KEYS[2], ARGV[5], 'incrby', KEYS[1], ARGV[1])
if refusal then
  return refusal
end
if free <= 0 then
  return 3
end
--- @include "notify"
return notify(ARGV[3], ARGV[2], free) and 1 or 2

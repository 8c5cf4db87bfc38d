-- Takes back an acquisition of a semaphore that was given up: what it was granted is free again, and what it may still be
-- granted by a copy that arrives later is refused.
--
-- KEYS[1]  the semaphore: the number of permits that are free
-- KEYS[2]  the record of the requests of this client
-- ARGV[1]  how many permits the acquisition asked for
-- ARGV[2]  the channel
-- ARGV[3]  PUBLISH or SPUBLISH
-- ARGV[4]  the number of the request by which it asked
-- ARGV[5]  the lowest number of a request of this client whose answer it may still ask for; 0: unknown
--
-- Answers  0   it had been granted nothing, or that was released already
--          1   its permits are free again
--          2   the same, but the server refused the message (ACL)
-- Error    WRONGTYPE where the key holds no count
--
-- Applied twice: the record says by then that the acquisition was granted nothing.

--- @include "counter"
--- @include "request-record"
--- @include "pass-shortage"
local wrong = counterError(KEYS[1])
if wrong then
  return wrong
end
local before = recordedAnswer(KEYS[2], ARGV[4])
passShortage(KEYS[2])
recordAnswer(KEYS[2], ARGV[4], ARGV[5], -1)
if not before or tonumber(before) < 0 or redis.call('exists', KEYS[1]) == 0 then
  return 0
end
local free = redis.call('incrby', KEYS[1], ARGV[1])
if free <= 0 then
  return 1
end
--- @include "notify"
return notify(ARGV[3], ARGV[2], free) and 1 or 2

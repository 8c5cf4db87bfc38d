-- Adds a level to a hold.
--
-- KEYS[1]  the lock
-- ARGV[1]  the owner field
-- ARGV[2]  the lease the new level needs, in ms; never shortens what the key still has
-- ARGV[3]  the hold count that the client wants; only the client changes its field
-- ARGV[4]  the lease end, by the server's clock in ms, that the last partial release of this hold saw, or 0. The new
--          lease must end at another moment, so that the server recognises a late copy of that release
--
-- Answers  when the lease ends now, by the server's clock in ms: the count is as wanted
--          0   the hold is gone: nothing was changed
-- Error    WRONGTYPE where the key is no hash
--
-- Applied twice or late: the count never falls, and no lease gets shorter.

local count = redis.call('hget', KEYS[1], ARGV[1])
if not count then
  return 0
end

--- @include "reenter"
return reenter(KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(count), tonumber(ARGV[3]), ARGV[4])

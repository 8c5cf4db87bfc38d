-- Adds a level to a hold, and draws a new token for its owner, as Redisson does.
--
-- KEYS[1]  the lock
-- KEYS[2]  the token counter
-- ARGV[1]  the owner field
-- ARGV[2]  the lease the new level needs, in ms; never shortens what the key still has
-- ARGV[3]  the hold count that the client wants; only the client changes its field
-- ARGV[4]  the lease end, by the server's clock in ms, that the last partial release of this hold saw, or 0. The new
--          lease must end at another moment, so that the server recognises a late copy of that release
-- ARGV[5]  the newest token of this owner that the client knows; -1: none
-- ARGV[6]  the greatest token of this lock that the client saw; 0: none
--
-- Answers  { when the lease ends now, by the server's clock in ms, the token as text }   the count is as wanted
--          the same and the counter before   the counter was behind what the client saw
--          0   the hold is gone: nothing was changed
-- Error    WRONGTYPE where the key is no hash, or the counter no number; ERR where the counter is used up
--
-- Applied twice: the second copy finds the wanted count, and a token that the client does not know yet. The first copy drew it:
-- while this owner holds the lock, no other owner can draw one. If the client knows no token of this owner, because it
-- acquired through another kind of lock, a second copy draws another token. Gaps are normal.

local count = tonumber(redis.call('hget', KEYS[1], ARGV[1]) or '0')
if count == 0 then
  return 0
end

local wanted = tonumber(ARGV[3])
--- @include "next-token"
local known = tonumber(ARGV[5])
local draws = count < wanted or known < 0 or tonumber(lastToken(KEYS[2])) <= known
local wrong = draws and tokenError(KEYS[2], ARGV[6])
if wrong then
  return wrong
end

--- @include "reenter"
local leaseEnd = reenter(KEYS[1], ARGV[1], tonumber(ARGV[2]), count, wanted, ARGV[4])
if draws then
  return { leaseEnd, unpack(nextToken(KEYS[2], ARGV[6])) }
end
return { leaseEnd, lastToken(KEYS[2]) }

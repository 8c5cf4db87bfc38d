-- Acquires a free lock for a new hold, and draws its fencing token.
--
-- KEYS[1]  the lock: a hash of one field, the owner, whose value is the hold count
-- KEYS[2]  the token counter
-- ARGV[1]  the owner field, <clientId>:<threadId>; every hold has one of its own
-- ARGV[2]  the lease in ms
-- ARGV[3]  the greatest token of this lock that the client saw; 0: none
--
-- Answers  { the token, as text }   acquired
--          { the token, the counter before }   acquired; the counter was behind what the client saw
--          integer                  held by another owner; the remaining TTL of the key in ms, -1 without expiry
-- Error    WRONGTYPE where the key holds no plain lock, or the counter no number; ERR where the counter is used up
--
-- Applied twice: the second copy finds the owner field, keeps count and counter, and answers the same token: while this owner
-- holds the lock, no other owner can draw one. It still writes, so that a WAIT after it waits until a replica has the first
-- copy's write, too.

local lease = tonumber(ARGV[2])
--- @include "check-lease"
--- @include "next-token"

local remaining = redis.call('pttl', KEYS[1])
if remaining == -2 then
  local wrong = tokenError(KEYS[2], ARGV[3])
  if wrong then
    return wrong
  end
  -- The number is passed as text, because Redis converts a number from Lua by way of a float.
  redis.call('hincrby', KEYS[1], ARGV[1], '1')
  redis.call('pexpire', KEYS[1], ARGV[2])
  return nextToken(KEYS[2], ARGV[3])
end

if redis.call('hexists', KEYS[1], ARGV[1]) == 1 then
  redis.call('pexpire', KEYS[1], math.max(lease, remaining))
  return { lastToken(KEYS[2]) }
end

if redis.call('hlen', KEYS[1]) ~= 1 then
  return redis.error_reply('WRONGTYPE a lock has one field, this hash has more')
end

return remaining

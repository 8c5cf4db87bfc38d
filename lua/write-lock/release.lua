-- Takes a level off a write hold. With the last one the lock is free or, where its owner reads as well,
-- steps down to reading; either way the waiters are notified.
--
-- KEYS[1]  the lock
-- KEYS[2]  a key of its slot that is never there, so that this waits for a move of the slot to end
-- ARGV[1]  the owner field
-- ARGV[2]  the hold count the client wants; 0 ends the hold
-- ARGV[3]  the lease of the levels that remain, in ms
-- ARGV[4]  the channel
-- ARGV[5]  PUBLISH or SPUBLISH
-- ARGV[6]  when, by the server's clock in ms, the client last saw that the lease would end
-- ARGV[7], ARGV[8]  what stands before and behind an owner field in the names of its read timeout keys
--
-- Answers  0   not held: nothing was changed
--          { 1, when the lease ends now }   still held
--          { 4, when the lease ends now }   held, by a lease other than the client knew: nothing was changed
--          2   freed or stepped down, and no client listened
--          { 2, how many clients were notified }   freed or stepped down
--          3   freed or stepped down, but the server refused the message (ACL)
-- Error    WRONGTYPE where the key is no hash
--
-- Once it only reads, the key lives as long as the longest read timeout key; where all of those have run out
-- nothing is held any more. (Java leaves the key the life that the write hold had.)
--
-- Applied twice: a partial release that finds the count as wanted, or lower, changes nothing but a lease that is
-- too short; a late one, after the hold was entered again, leaves the newer lease alone. A full release finds the
-- field gone and answers 0.

local count = tonumber(redis.call('hget', KEYS[1], ARGV[1]) or '0')
if count == 0 then
  return 0
end

--- @include "read-levels"
-- What the writer also reads may need the key for longer than what is left of its writing.
local longest = -2
local fields = redis.call('hgetall', KEYS[1])
for i = 1, #fields, 2 do
  if fields[i] ~= 'mode' and fields[i] ~= ARGV[1] then
    eachLevel(1, tonumber(fields[i + 1]) or 0, function(level)
      local life = redis.call('pttl', ARGV[7] .. fields[i] .. ARGV[8] .. level)
      longest = math.max(longest, life)
      return life ~= -2
    end)
  end
end

local wanted = tonumber(ARGV[2])
if wanted > 0 then
  --- @include "partial-release"
  local unseen = unseenEnd(KEYS[1], count, wanted, ARGV[6])
  if unseen then
    return { 4, unseen }
  end
  if count > wanted then
    redis.call('hincrby', KEYS[1], ARGV[1], wanted - count)
  end
  setLease(KEYS[1], count, wanted, math.max(tonumber(ARGV[3]), longest))
  return { 1, ends(KEYS[1]) }
end

-- The owner goes last: where the user may not do one of this, the release is sent again and finds it.
if longest > 0 then
  redis.call('hset', KEYS[1], 'mode', 'read')
  redis.call('pexpire', KEYS[1], longest)
  redis.call('hdel', KEYS[1], ARGV[1])
else
  redis.call('del', KEYS[1])
end
--- @include "notify"
local heard = notify(ARGV[5], ARGV[4], '1')
if not heard then
  return 3
end
return heard == 0 and 2 or { 2, heard }

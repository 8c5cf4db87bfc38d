--!df flags=allow-undeclared-keys
-- Releases a level of a write hold. With the last level the lock is free or, if its owner reads as well, the owner keeps the
-- read side. In both cases the waiters are notified.
--
-- KEYS[1]  the lock
-- KEYS[2]  a key of its slot that is never there: during a migration of the slot the server answers TRYAGAIN
-- ARGV[1]  the owner field
-- ARGV[2]  the hold count the client wants; 0 ends the hold
-- ARGV[3]  the lease of the levels that remain, in ms
-- ARGV[4]  the channel
-- ARGV[5]  PUBLISH or SPUBLISH
-- ARGV[6]  the lease end that the client last saw, by the server's clock in ms
-- ARGV[7], ARGV[8]  the parts before and after an owner field in the names of its read timeout keys
--
-- Answers  0   not held: nothing was changed
--          { 1, when the lease ends now }   still held
--          { 4, when the lease ends now }   held, but the lease ends at another time than the client saw: nothing was changed
--          2   freed, or only read from now on, and no client listened
--          { 2, how many clients were notified }   freed, or only read from now on
--          3   freed, or only read from now on, but the server refused the message (ACL)
-- Error    WRONGTYPE where the key is no hash
--
-- If the owner only reads from now on, the key lives as long as its longest read timeout key. If all of those have expired,
-- the lock is free. (Java keeps the TTL of the write hold.)
--
-- Applied twice: a partial release that finds the wanted count, or a lower one, only makes a lease longer that is too short.
-- A late copy, after a re-entry, does not change the newer lease. A full release finds the field gone and answers 0.

local count = tonumber(redis.call('hget', KEYS[1], ARGV[1]) or '0')
if count == 0 then
  return 0
end

--- @include "read-levels"
-- The read hold of the writer may need the key longer than its write hold.
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
  setLease(KEYS[1], count, wanted, math.max(tonumber(ARGV[3]), longest))
  if count > wanted then
    redis.call('hincrby', KEYS[1], ARGV[1], wanted - count)
  end
  return { 1, leaseEndOf(KEYS[1]) }
end

-- The field of the owner is deleted last: if a right is missing for an earlier command, the release can be sent again.
if longest > 0 then
  -- First a command that needs no memory: a server without free memory allows the commands of a script after its first write.
  redis.call('pexpire', KEYS[1], longest)
  redis.call('hset', KEYS[1], 'mode', 'read')
  redis.call('hdel', KEYS[1], ARGV[1])
else
  redis.call('del', KEYS[1])
end
--- @include "notify-freed"
return notifyFreed(ARGV[5], ARGV[4], '1')

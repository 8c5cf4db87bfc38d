--!df flags=allow-undeclared-keys
-- Releases a level of a read hold. When the last hold of all ends, the lock is free, and the waiters are notified.
--
-- KEYS[1]  the lock
-- KEYS[2]  a key of its slot that is never there: during a migration of the slot the server answers TRYAGAIN
-- ARGV[1]  the owner field
-- ARGV[2]  the hold count the client wants; 0 ends the hold
-- ARGV[3]  the lease that the remaining levels still need, in ms; may be 0 or negative
-- ARGV[4]  the channel
-- ARGV[5]  PUBLISH or SPUBLISH
-- ARGV[6]  the end of the top level's lease that the client last saw, by the server's clock in ms
-- ARGV[7], ARGV[8]  the parts before and after an owner field in the names of its read timeout keys
--
-- Answers  0   not held: nothing was changed
--          1   this hold has ended, others remain
--          { 1, when the top level's lease ends now }   still held by this hold
--          { 4, when the top level's lease ends now }   held, but the lease ends at another time than the client saw: nothing was changed
--          2   freed, and the waiters notified
--          3   freed, but the server refused the message (ACL)
-- Error    WRONGTYPE where the key is no hash
--
-- The last level is released first: the script deletes the read timeout keys above the count. Then the lock lives as long
-- as the longest remaining read timeout key. If all of them have expired, their owners are dead, and the lock is free. A
-- write hold has no read timeout key; beside one, the script never shortens the TTL of the lock.
-- The script reads every level of every read hold once (read-levels.lua).
--
-- Applied twice: a partial release that finds the wanted count, or a lower one, only makes a lease longer that is too short.
-- A late copy, after a re-entry, does not change the newer level. A full release finds the field gone and answers 0. If the
-- script ends at a read timeout key that a slot migration has moved away, the hash is unchanged: all read timeout keys
-- come first.

local function timeoutKey(owner, level)
  return ARGV[7] .. owner .. ARGV[8] .. level
end

--- @include "partial-release"
--- @include "read-levels"
--- @include "pass-shortage"

local count = tonumber(redis.call('hget', KEYS[1], ARGV[1]) or '0')
if count == 0 then
  return 0
end

local wanted = tonumber(ARGV[2])
local unseen = wanted > 0 and unseenEnd(timeoutKey(ARGV[1], count), count, wanted, ARGV[6])
if unseen then
  return { 4, unseen }
end

local kept = math.min(count, wanted)
local lease = tonumber(ARGV[3])
local longest = -2
local fields = redis.call('hgetall', KEYS[1])
local left = #fields / 2 - (kept > 0 and 0 or 1)
local writes = false
for i = 1, #fields, 2 do
  if fields[i] == 'mode' then
    writes = fields[i + 1] == 'write'
  elseif string.sub(fields[i], -6) ~= ':write' then
    local isOwn = fields[i] == ARGV[1]
    eachLevel(1, isOwn and kept or tonumber(fields[i + 1]) or 0, function(level)
      local key = timeoutKey(fields[i], level)
      local life = redis.call('pttl', key)
      -- A renewal that the released level needed has also lengthened the leases of the levels that remain.
      local isTooLong = isOwn and count > wanted and life > lease
      if isTooLong then
        redis.call('pexpire', key, lease)
      end
      longest = math.max(longest, isTooLong and lease or life)
      return life ~= -2
    end)
  end
end
eachLevel(kept + 1, count, function(level)
  return redis.call('del', timeoutKey(ARGV[1], level)) == 1
end)

if kept > 0 then
  passShortage(KEYS[2])
  redis.call('hincrby', KEYS[1], ARGV[1], kept - count)
  local top = timeoutKey(ARGV[1], kept)
  if lease > math.max(redis.call('pttl', top), 0) then
    redis.call('set', top, '1', 'px', lease)
    longest = math.max(longest, lease)
  end
end

if left > 1 and (writes or longest > 0) then
  if not writes or longest > redis.call('pttl', KEYS[1]) then
    redis.call('pexpire', KEYS[1], longest)
  end
  if kept > 0 then
    return { 1, leaseEndOf(timeoutKey(ARGV[1], kept)) }
  end
  -- The owner field is deleted last: if a right is missing for an earlier command, the release can be sent again.
  redis.call('hdel', KEYS[1], ARGV[1])
  return 1
end

redis.call('del', KEYS[1])
--- @include "notify"
return notify(ARGV[5], ARGV[4], '0') and 2 or 3

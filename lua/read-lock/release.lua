-- Takes a level off a read hold; with the last hold of all the lock is free and the waiters are notified.
--
-- KEYS[1]  the lock
-- KEYS[2]  a key of its slot that is never there, so that this waits for a move of the slot to end
-- ARGV[1]  the owner field
-- ARGV[2]  the hold count the client wants; 0 ends the hold
-- ARGV[3]  what the levels that remain still need, in ms; may be nothing, or less
-- ARGV[4]  the channel
-- ARGV[5]  PUBLISH or SPUBLISH
-- ARGV[6]  when, by the server's clock in ms, the client last saw that the top level's lease would end
-- ARGV[7], ARGV[8]  what stands before and behind an owner field in the names of its read timeout keys
--
-- Answers  0   not held: nothing was changed
--          1   this hold has ended, others remain
--          { 1, when the top level's lease ends now }   still held by this hold
--          { 4, when the top level's lease ends now }   held, by a lease other than the client knew: nothing was changed
--          2   freed, and the waiters notified
--          3   freed, but the server refused the message (ACL)
-- Error    WRONGTYPE where the key is no hash
--
-- Levels go last in, first out: the read timeout keys above the count go. The key then lives as long as the
-- longest of those that remain. Where all of them have run out, their owners are dead and keep no other client out. A
-- write hold has no read timeout key; while there is one, the key's life is never shortened.
-- Looks at every level of every read hold once (read-levels.lua).
--
-- Applied twice: a partial release that finds the count as wanted, or lower, changes nothing but a lease that is
-- too short; a late one, after the hold was entered again, leaves the newer level alone. A full release finds the
-- field gone and answers 0. One that breaks off, at a read timeout key which its slot's move has taken elsewhere,
-- does so before the hash is changed: all read timeout keys come first.

local function timeoutKey(owner, level)
  return ARGV[7] .. owner .. ARGV[8] .. level
end

--- @include "partial-release"
--- @include "read-levels"

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
local longest = -2
local fields = redis.call('hgetall', KEYS[1])
local left = #fields / 2 - (kept > 0 and 0 or 1)
local writes = false
for i = 1, #fields, 2 do
  if fields[i] == 'mode' then
    writes = fields[i + 1] == 'write'
  elseif string.sub(fields[i], -6) ~= ':write' then
    eachLevel(1, fields[i] == ARGV[1] and kept or tonumber(fields[i + 1]) or 0, function(level)
      local life = redis.call('pttl', timeoutKey(fields[i], level))
      longest = math.max(longest, life)
      return life ~= -2
    end)
  end
end
eachLevel(kept + 1, count, function(level)
  return redis.call('del', timeoutKey(ARGV[1], level)) == 1
end)

if kept > 0 then
  redis.call('hincrby', KEYS[1], ARGV[1], kept - count)
  local top = timeoutKey(ARGV[1], kept)
  if tonumber(ARGV[3]) > math.max(redis.call('pttl', top), 0) then
    redis.call('set', top, '1', 'px', ARGV[3])
    longest = math.max(longest, tonumber(ARGV[3]))
  end
end

if left > 1 and (writes or longest > 0) then
  if not writes or longest > redis.call('pttl', KEYS[1]) then
    redis.call('pexpire', KEYS[1], longest)
  end
  if kept > 0 then
    return { 1, ends(timeoutKey(ARGV[1], kept)) }
  end
  -- The owner goes last: where the user may not do one of this, the release is sent again and finds it.
  redis.call('hdel', KEYS[1], ARGV[1])
  return 1
end

redis.call('del', KEYS[1])
--- @include "notify"
return notify(ARGV[5], ARGV[4], '0') and 2 or 3

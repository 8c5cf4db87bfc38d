-- Takes a level off a read hold; with the last hold of all the lock is free and the waiters are told.
--
-- KEYS[1]  the lock
-- KEYS[2]  a key of its slot that is never there, so that this waits for a move of the slot to end
-- ARGV[1]  the owner field
-- ARGV[2]  the hold count the client wants; 0 ends the hold
-- ARGV[3]  what the levels that remain still need, in ms; may be nothing, or less
-- ARGV[4]  the channel
-- ARGV[5]  PUBLISH or SPUBLISH
-- ARGV[6]  when, by the server's clock in ms, the client last saw that the top level's lease would end
-- ARGV[7], ARGV[8]  what stands before and behind an owner field in the name of its clocks
--
-- Answers  0   not held: nothing was changed
--          1   this hold has ended, others remain
--          { 1, when the top level's lease ends now }   still held by this hold
--          { 4, when the top level's lease ends now }   held, by a lease other than the client knew: nothing was changed
--          2   freed, and told
--          3   freed, but the server refused the message (ACL)
-- Error    WRONGTYPE where the key is no hash
--
-- Levels go last in, first out: the clocks above the count go. The key then lives as long as the longest
-- clock of the read holds that remain. Where all of those have run out their owners are dead, and do not
-- keep the lock from anybody. A write hold has no clock; beside one the key's life is never shortened.
-- Looks at every level of every read hold once.
--
-- Applied twice: a partial release that finds the count as wanted changes nothing but a lease that is too
-- short; a late one, after the hold was entered again, leaves the newer level alone. A full release finds the
-- field gone and answers 0. One that breaks off, at a clock which its slot's move has taken elsewhere, does so
-- before the hash is changed: all clocks come first.

local function clock(owner, level)
  return ARGV[7] .. owner .. ARGV[8] .. level
end

local function ends(key)
  local now = redis.call('time')
  return now[1] * 1000 + math.floor(now[2] / 1000) + redis.call('pttl', key)
end

local count = tonumber(redis.call('hget', KEYS[1], ARGV[1]) or '0')
if count == 0 then
  return 0
end

local wanted = tonumber(ARGV[2])
if wanted > 0 and count > wanted and math.abs(ends(clock(ARGV[1], count)) - tonumber(ARGV[6])) > 2 then
  return { 4, ends(clock(ARGV[1], count)) }
end

local longest = -2
local fields = redis.call('hgetall', KEYS[1])
for i = 1, #fields, 2 do
  if fields[i] ~= 'mode' and string.sub(fields[i], -6) ~= ':write' then
    for level = 1, fields[i] == ARGV[1] and wanted or tonumber(fields[i + 1]) or 0 do
      longest = math.max(longest, redis.call('pttl', clock(fields[i], level)))
    end
  end
end
for level = wanted + 1, count do
  redis.call('del', clock(ARGV[1], level))
end

if wanted > 0 then
  redis.call('hincrby', KEYS[1], ARGV[1], wanted - count)
  local top = clock(ARGV[1], wanted)
  if tonumber(ARGV[3]) > math.max(redis.call('pttl', top), 0) then
    redis.call('set', top, '1', 'px', ARGV[3])
    longest = math.max(longest, tonumber(ARGV[3]))
  end
else
  redis.call('hdel', KEYS[1], ARGV[1])
end

if redis.call('hlen', KEYS[1]) > 1 then
  local writes = redis.call('hget', KEYS[1], 'mode') == 'write'
  if writes or longest > 0 then
    if not writes or longest > redis.call('pttl', KEYS[1]) then
      redis.call('pexpire', KEYS[1], longest)
    end
    if wanted > 0 then
      return { 1, ends(clock(ARGV[1], wanted)) }
    end
    return 1
  end
end

redis.call('del', KEYS[1])
local told = redis.pcall(ARGV[5], ARGV[4], '0')
if type(told) == 'table' and told.err then
  return 3
end
return 2

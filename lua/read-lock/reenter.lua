-- Adds a level to a read hold.
--
-- KEYS[1]  the lock
-- KEYS[2]  the clock of the new level
-- ARGV[1]  the owner field
-- ARGV[2]  the lease of the new level, in ms; never shortens what the key still has
-- ARGV[3]  the hold count the client wants; it is the only author of its field
--
-- Answers  when the new level's lease ends, by the server's clock in ms: the count is as wanted
--          0   the hold is gone: nothing was changed
-- Error    WRONGTYPE where the key is no hash
--
-- Applied twice: the count is absolute, the second copy changes nothing but the clock.

local function ends(key)
  local now = redis.call('time')
  return now[1] * 1000 + math.floor(now[2] / 1000) + redis.call('pttl', key)
end

local count = redis.call('hget', KEYS[1], ARGV[1])
if not count then
  return 0
end

local lease = tonumber(ARGV[2])
redis.call('hincrby', KEYS[1], ARGV[1], tonumber(ARGV[3]) - tonumber(count))
redis.call('set', KEYS[2], '1', 'px', math.max(lease, redis.call('pttl', KEYS[2])))
redis.call('pexpire', KEYS[1], math.max(lease, redis.call('pttl', KEYS[1])))
return ends(KEYS[2])

-- Adds a level to a write hold.
--
-- KEYS[1]  the lock
-- ARGV[1]  the owner field
-- ARGV[2]  the lease the new level needs, in ms; added to what the key still has, as Java does
-- ARGV[3]  the hold count the client wants; it is the only author of its field
--
-- Answers  when the lease ends now, by the server's clock in ms: the count is as wanted
--          0   the hold is gone: nothing was changed
-- Error    WRONGTYPE where the key is no hash
--
-- Applied twice: the count is absolute, and only a copy that changes it adds to the lease.

local function ends(key)
  local now = redis.call('time')
  return now[1] * 1000 + math.floor(now[2] / 1000) + redis.call('pttl', key)
end

local count = tonumber(redis.call('hget', KEYS[1], ARGV[1]) or '0')
if count == 0 then
  return 0
end

local wanted = tonumber(ARGV[3])
local lease = tonumber(ARGV[2])
local remaining = math.max(redis.call('pttl', KEYS[1]), 0)
if count ~= wanted then
  redis.call('hincrby', KEYS[1], ARGV[1], wanted - count)
  redis.call('pexpire', KEYS[1], remaining + lease)
elseif lease > remaining then
  redis.call('pexpire', KEYS[1], lease)
end
return ends(KEYS[1])

-- Adds a level to a write hold.
--
-- KEYS[1]  the lock
-- ARGV[1]  the owner field
-- ARGV[2]  the lease the new level needs, in ms; added to what the key still has, as Java does
-- ARGV[3]  the hold count the client wants; it is the only author of its field
-- ARGV[4]  the lease's end that the last partial release of this hold had seen, or 0: ours must end apart from
--          it, for by that the late copy of a release is told from one in time
--
-- Answers  when the lease ends now, by the server's clock in ms: the count is as wanted
--          0   the hold is gone: nothing was changed
-- Error    WRONGTYPE where the key is no hash
--
-- Applied twice: the count is absolute, and only a copy that changes it adds to the lease.

local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function apart(lease)
  if math.abs(now + lease - tonumber(ARGV[4])) > 2 then
    return lease
  end
  return tonumber(ARGV[4]) + 3 - now
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
  lease = apart(remaining + lease)
else
  lease = apart(math.max(remaining, lease))
end
redis.call('pexpire', KEYS[1], lease)
return now + lease

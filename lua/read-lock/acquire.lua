-- Acquires the read side of a read-write lock for a new hold.
--
-- KEYS[1]  the lock: a hash with the field `mode` (read or write) and one field for each holder
-- KEYS[2]  the read timeout key of the hold's first level
-- ARGV[1]  the owner field, <clientId>:<threadId>; every hold has one of its own
-- ARGV[2]  the lease in ms
-- ARGV[3]  the field of the write hold that the same caller has, or the empty string
--
-- Answers  nil       acquired
--          integer   held by a writer; the remaining TTL of the key in ms, -1 without expiry
-- Error    WRONGTYPE where the key holds no read-write lock
--
-- Applied twice: the second copy finds the owner field and leaves its count alone. It still writes, so
-- that a WAIT after it waits until a replica has the first copy's write, too.

local lease = tonumber(ARGV[2])
--- @include "check-lease"

--- @include "read-write-mode"

local isWriter = mode == 'write' and ARGV[3] ~= '' and redis.call('hexists', KEYS[1], ARGV[3]) == 1
if mode and mode ~= 'read' and not isWriter then
  return redis.call('pttl', KEYS[1])
end

-- One command sets mode and reader. Otherwise a missing right could leave a mode without a reader, which never expires.
if not mode then
  redis.call('hset', KEYS[1], 'mode', 'read', ARGV[1], 1)
elseif redis.call('hexists', KEYS[1], ARGV[1]) == 0 then
  redis.call('hset', KEYS[1], ARGV[1], 1)
end
redis.call('pexpire', KEYS[1], math.max(lease, redis.call('pttl', KEYS[1])))
redis.call('set', KEYS[2], '1', 'px', math.max(lease, redis.call('pttl', KEYS[2])))
return nil

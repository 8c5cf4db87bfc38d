-- Acquires the write side of a read-write lock for a new hold.
--
-- KEYS[1]  the lock: a hash with the field `mode` (read or write) and one field for each holder
-- KEYS[2]  a key of its slot that is never there. The release names it, too, so a user without the right to it is refused
--          here already
-- ARGV[1]  the owner field, <clientId>:<threadId>:write; every hold has one of its own
-- ARGV[2]  the lease in ms
--
-- Answers  nil       acquired
--          integer   held by readers or another writer; the remaining TTL of the key in ms, -1 without expiry
-- Error    WRONGTYPE where the key holds no read-write lock
--
-- Applied twice: the second copy finds the owner field, leaves its count alone and answers "acquired". It
-- still writes, so that a WAIT after it waits until a replica has the first copy's write, too.

local lease = tonumber(ARGV[2])
--- @include "check-lease"

--- @include "read-write-mode"
if not mode then
  redis.call('hset', KEYS[1], 'mode', 'write', ARGV[1], 1)
  redis.call('pexpire', KEYS[1], ARGV[2])
  return nil
end

local remaining = redis.call('pttl', KEYS[1])
if mode == 'write' and redis.call('hexists', KEYS[1], ARGV[1]) == 1 then
  redis.call('pexpire', KEYS[1], math.max(lease, remaining))
  return nil
end
return remaining

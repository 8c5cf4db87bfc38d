-- Begins a run, unless another one goes on or its result is stored.
--
-- KEYS[1]  the run: a hash with its `owner` while it goes on, and then with its result: `value`, `fingerprint`, and `by`, its owner
-- ARGV[1]  the owner, <clientId>:<threadId>; each call has one of its own
-- ARGV[2]  the lease in ms
--
-- Answers  {1}                       begun
--          {0, ttl}                  another run goes on; the remaining TTL of its lease in ms
--          {2, value, fingerprint}   the result
-- Error    WRONGTYPE where the key holds something else
--
-- Applied twice: the run goes on, and its lease begins again. A late copy finds the result. After a run that stored nothing it
-- keeps the key for one lease.

local lease = tonumber(ARGV[2])
--- @include "check-lease"

local stored = redis.call('hmget', KEYS[1], 'value', 'fingerprint', 'owner')
if stored[1] then
  return {2, stored[1], stored[2]}
end
if stored[3] and stored[3] ~= ARGV[1] then
  return {0, redis.call('pttl', KEYS[1])}
end
redis.call('hset', KEYS[1], 'owner', ARGV[1])
redis.call('pexpire', KEYS[1], ARGV[2])
return {1}

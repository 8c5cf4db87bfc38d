-- Takes a level off a hold; with the last one the lock is free and the waiters are told.
--
-- KEYS[1]  the lock
-- ARGV[1]  the owner field
-- ARGV[2]  the hold count the client wants; 0 frees the lock
-- ARGV[3]  the lease of the levels that remain, in ms
-- ARGV[4]  the channel
-- ARGV[5]  PUBLISH or SPUBLISH
--
-- Answers  0   not held: nothing was changed
--          1   still held
--          2   freed, and told
--          3   freed, but the server refused the message (ACL)
-- Error    WRONGTYPE where the key is no hash
--
-- Applied twice: a partial release sets the same count again; a full one finds the field gone and answers 0,
-- which the client reads as done where its connection broke in between.

local count = redis.call('hget', KEYS[1], ARGV[1])
if not count then
  return 0
end

if tonumber(ARGV[2]) > 0 then
  redis.call('hincrby', KEYS[1], ARGV[1], tonumber(ARGV[2]) - tonumber(count))
  redis.call('pexpire', KEYS[1], ARGV[3])
  return 1
end

redis.call('del', KEYS[1])
local told = redis.pcall(ARGV[5], ARGV[4], '0')
if type(told) == 'table' and told.err then
  return 3
end
return 2

-- Reads who leads.
--
-- KEYS[1]  the fenced lock
-- KEYS[2]  the leader that was noted last
-- KEYS[3]  the counter of the fencing tokens
--
-- Answers  {}                                 no owner has the lock
--          {owner, ttl, term}                 it has noted nothing: an owner of Java, or one that has just acquired the lock
--          {owner, ttl, term, label, since}   the leader; `ttl`: how long its lease lasts, in ms, -1 without end
-- Error    WRONGTYPE where a key holds something else
--
-- Applied twice: it changes nothing.

local owner = redis.call('hkeys', KEYS[1])[1]
if not owner then
  return {}
end
local ttl = redis.call('pttl', KEYS[1])
local noted = redis.call('hmget', KEYS[2], 'owner', 'term', 'label', 'since')
if noted[1] == owner then
  return {owner, ttl, noted[2], noted[3], noted[4]}
end
return {owner, ttl, redis.call('get', KEYS[3]) or '0'}

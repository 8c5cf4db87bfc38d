-- Notes the leader, and notifies the observers.
--
-- KEYS[1]  the fenced lock
-- KEYS[2]  the leader: a hash of its owner, label and term, and since when it leads, by the server's clock in ms
-- ARGV[1]  the owner of the lock
-- ARGV[2]  its label
-- ARGV[3]  its term: the fencing token
-- ARGV[4]  the channel
-- ARGV[5]  PUBLISH or SPUBLISH
--
-- Answers  1   noted
--          0   this owner does not hold the lock: nothing was changed
-- Error    WRONGTYPE where a key holds something else
--
-- Applied twice: the leader is noted already. A late copy, after its term, finds another owner or none.

--- @include "notify"
--- @include "server-time"
if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then
  return 0
end
if redis.call('hget', KEYS[2], 'term') ~= ARGV[3] or redis.call('hget', KEYS[2], 'owner') ~= ARGV[1] then
  local since = string.format('%.0f', serverTime())
  redis.call('hset', KEYS[2], 'owner', ARGV[1], 'label', ARGV[2], 'term', ARGV[3], 'since', since)
end
notify(ARGV[5], ARGV[4], ARGV[3])
return 1

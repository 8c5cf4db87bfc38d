-- Releases a level of a hold. With the last level the lock is free, and the waiters are notified.
--
-- KEYS[1]  the lock
-- ARGV[1]  the owner field
-- ARGV[2]  the hold count the client wants; 0 frees the lock
-- ARGV[3]  the lease of the levels that remain, in ms
-- ARGV[4]  the channel
-- ARGV[5]  PUBLISH or SPUBLISH
-- ARGV[6]  the lease end that the client last saw, by the server's clock in ms
--
-- Answers  0   not held: nothing was changed
--          { 1, when the lease ends now }   still held
--          { 4, when the lease ends now }   held, but the lease ends at another time than the client saw: nothing was changed
--          2   freed, and no client listened
--          { 2, how many clients were notified }   freed
--          3   freed, but the server refused the message (ACL)
-- Error    WRONGTYPE where the key is no hash
--
-- Applied twice: a partial release that finds the wanted count, or a lower one, only makes a lease longer that is too short.
-- A late copy, after a re-entry, finds another lease end than it knows and changes nothing: it must not shorten the lease
-- of the newer level. A full release finds the field gone and answers 0. After a broken connection the client takes this
-- for success.

if ARGV[2] == '0' then
  -- It is the only field, so Redis deletes the key with it.
  if redis.call('hdel', KEYS[1], ARGV[1]) == 0 then
    return 0
  end
  --- @include "notify-freed"
  return notifyFreed(ARGV[5], ARGV[4], '0')
end

--- @include "partial-release"

local count = tonumber(redis.call('hget', KEYS[1], ARGV[1]) or '0')
if count == 0 then
  return 0
end

local wanted = tonumber(ARGV[2])
local unseen = unseenEnd(KEYS[1], count, wanted, ARGV[6])
if unseen then
  return { 4, unseen }
end
setLease(KEYS[1], count, wanted, tonumber(ARGV[3]))
if count > wanted then
  redis.call('hincrby', KEYS[1], ARGV[1], wanted - count)
end
return { 1, leaseEndOf(KEYS[1]) }

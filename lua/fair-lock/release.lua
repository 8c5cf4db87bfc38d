-- Releases a level of a hold. With the last level, or if the remaining levels need the key for a shorter time, the owner at the
-- head of the queue is notified.
--
-- KEYS[1]  the lock
-- KEYS[2]  the queue
-- KEYS[3]  when each place in the queue lapses
-- ARGV[1]  the owner field
-- ARGV[2]  the allowance of a place in ms
-- ARGV[3]  the beginning of an owner's channel: <channel>:
-- ARGV[4]  the channel of the locks that are not fair, used if the queue is empty
-- ARGV[5]  PUBLISH or SPUBLISH
-- ARGV[6]  the hold count the client wants; 0 frees the lock
-- ARGV[7]  the lease of the levels that remain, in ms
-- ARGV[8]  the lease end that the client last saw, by the server's clock in ms
--
-- Answers  0   not held: nothing was changed. If the lock is free, the head is still notified
--          { 1, when the lease ends now }   still held
--          { 4, when the lease ends now }   held, but the lease ends at another time than the client saw: nothing was changed
--          2   freed, and no client listened
--          { 2, how many clients were notified }   freed
--          3   freed, but the server refused the message (ACL)
-- Error    WRONGTYPE where the lock is no hash
--
-- Applied twice or late: a partial release does what lua/lock/release.lua says. The last one finds the field gone and answers 0. After a broken connection the client takes this for success. A
-- second message makes the head try once more.

--- @include "fair-queue"
--- @include "partial-release"

if ARGV[6] ~= '0' then
  local count = tonumber(redis.call('hget', KEYS[1], ARGV[1]) or '0')
  if count == 0 then
    return 0
  end
  local wanted = tonumber(ARGV[6])
  local unseen = unseenEnd(KEYS[1], count, wanted, ARGV[8])
  if unseen then
    return { 4, unseen }
  end
  local shortened = setLease(KEYS[1], count, wanted, tonumber(ARGV[7]))
  if count > wanted then
    redis.call('hincrby', KEYS[1], ARGV[1], wanted - count)
  end
  if shortened then
    local first = redis.pcall('lindex', KEYS[2], 0)
    notify(ARGV[5], type(first) == 'string' and ARGV[3] .. first or ARGV[4], '1')
  end
  return { 1, leaseEndOf(KEYS[1]) }
end

local freed = redis.call('hdel', KEYS[1], ARGV[1]) == 1
if redis.call('exists', KEYS[1]) == 1 then
  return freed and 2 or 0
end
-- The hold is released even if a key of the queue holds something else.
local head = not queueError() and not isEmpty() and firstInQueue(serverTime(), tonumber(ARGV[2]))
local heard = 0
if head then
  heard = notify(ARGV[5], ARGV[3] .. head, '0')
elseif freed then
  heard = notify(ARGV[5], ARGV[4], '0')
end
if not freed then
  return 0
end
if not heard then
  return 3
end
return heard == 0 and 2 or { 2, heard }

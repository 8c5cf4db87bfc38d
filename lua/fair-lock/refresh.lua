-- Refreshes the places of one client in the queue of a fair lock, for its waiters live; then drops the places at the head
-- that have lapsed and, where the lock is free, notifies the owner that heads the queue.
--
-- KEYS[1]  the lock
-- KEYS[2]  the queue
-- KEYS[3]  when each place in the queue lapses
-- ARGV[1]  how the owner fields of this client begin: <clientId>:
-- ARGV[2]  the allowance of a place in ms
-- ARGV[3]  the index in the queue from which to go on, 0 at first
-- ARGV[4]  the waits in ms of the Java places before that index
-- ARGV[5]  the channel of an owner without the owner: <channel>:
-- ARGV[6]  PUBLISH or SPUBLISH
--
-- Answers  { the index from which to go on, 0 at the end;
--            the waits in ms of the Java places before that index;
--            the time by the server's clock in ms;
--            how long in ms the lock, or the place at the head of a free one, lives if nothing happens; -1 without expiry;
--            the owner that heads the queue of a free lock, else the empty string;
--            the thread ids of the places found, each with a space behind it }
-- Error    WRONGTYPE where the queue holds something else
--
-- A long queue takes several calls. Where places before the index leave in between, some may be left out: the next round
-- finds them, before they lapse.
--
-- Applied twice or late: a place is refreshed once more. One that is gone is not entered again.

--- @include "fair-queue"
local wrong = queueError()
if wrong then
  return wrong
end

local SLICES_A_CALL = 4
local now = serverTime()
local allowance = tonumber(ARGV[2])
local length = #ARGV[1]
local found, scores = {}, {}

local function refresh(owner, sum)
  if string.sub(owner, 1, length) == ARGV[1] then
    found[#found + 1] = string.sub(owner, length + 1) .. ' '
    scores[#scores + 1] = now + allowance + sum
    scores[#scores + 1] = owner
  end
end

local function write()
  if #scores > 0 then
    redis.call('zadd', KEYS[3], unpack(scores))
    scores = {}
  end
end

heal(now, allowance)
local from, sum = walk(tonumber(ARGV[3]), tonumber(ARGV[4]), SLICES_A_CALL, now, refresh, write)
local lives, first = -1, ''
if from == 0 then
  local head, lapses = firstInQueue(now, allowance)
  lives = redis.call('pttl', KEYS[1])
  if lives == -2 then
    lives = head and math.max(1, math.ceil(lapses - now)) or -1
    first = head or ''
    -- A waiter of the client that asks needs no message.
    if head and string.sub(head, 1, length) ~= ARGV[1] then
      notify(ARGV[6], ARGV[5] .. head, '0')
    end
  end
end
return { from, sum, now, lives, first, table.concat(found) }

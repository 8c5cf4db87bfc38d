-- Refreshes the places of one client in the queue of a fair lock. Then drops lapsed places at the head and, if the lock is
-- free, notifies the owner at the head.
--
-- KEYS[1]  the lock
-- KEYS[2]  the queue
-- KEYS[3]  when each place in the queue lapses
-- ARGV[1]  the beginning of the owner fields of this client: <clientId>:
-- ARGV[2]  the allowance of a place in ms
-- ARGV[3]  the index in the queue from which to go on, 0 in the first call
-- ARGV[4]  the waits in ms of the Java places before that index
-- ARGV[5]  the beginning of an owner's channel: <channel>:
-- ARGV[6]  PUBLISH or SPUBLISH
--
-- Answers  { the index from which to go on, 0 at the end;
--            the waits in ms of the Java places before that index;
--            how long the lock, or the place at the head of a free lock, lasts without any command, in ms; -1 without expiry;
--            the owner at the head of the queue of a free lock, else the empty string;
--            the thread ids of the places found, each followed by a space }
-- Error    WRONGTYPE where the queue holds something else
--
-- A long queue takes several calls. If places before the index leave between two calls, some places may be left out. The next
-- round finds them before they lapse.
--
-- Applied twice or late: a place is refreshed once more. A place that is gone is not entered again.

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
    -- A waiter of this client needs no message: the answer names it.
    if head and string.sub(head, 1, length) ~= ARGV[1] then
      notify(ARGV[6], ARGV[5] .. head, '0')
    end
  end
end
return { from, sum, lives, first, table.concat(found) }

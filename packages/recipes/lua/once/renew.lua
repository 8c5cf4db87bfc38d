-- Renews the leases of runs that go on, with an answer for each.
--
-- KEYS      the runs
-- ARGV[1]   the lease in ms; never shortens what a key still has
-- ARGV[i+1] the owner of the run in KEYS[i]
--
-- Answers  an array, for each run
--          when its lease ends now, by the server's clock in ms: renewed
--          0   the owner does not have the key: nothing was changed
--
-- A key that holds something else counts as gone. If the server refuses the command, no run counts as gone: the answer is that
-- error.
--
-- Applied twice: the leases begin again.

--- @include "lease-end"
--- @include "refused"

local answers = {}
for i, key in ipairs(KEYS) do
  local owner = redis.pcall('hget', key, 'owner')
  if isRefused(owner) then
    return owner
  end
  answers[i] = 0
  if owner == ARGV[i + 1] then
    if tonumber(ARGV[1]) > redis.call('pttl', key) then
      redis.call('pexpire', key, ARGV[1])
    end
    answers[i] = leaseEndOf(key)
  end
end
return answers

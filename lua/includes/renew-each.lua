-- renewEach(read): renews the leases of the holds on KEYS. ARGV[1] is the lease, and ARGV[i+1] marks the hold on KEYS[i].
-- read(key, mark) returns the answer of a command, and whether the hold is still there. Returns when each lease ends now, by the
-- server's clock in ms, or 0 where the hold is gone: a renewal must not create a lock. A key that holds something else counts as
-- gone. Where the server refuses the command, no hold counts as gone: the answer is that error.

--- @include "lease-end"
--- @include "refused"

local function renewEach(read)
  local answers = {}
  for i, key in ipairs(KEYS) do
    local answer, isHeld = read(key, ARGV[i + 1])
    if isRefused(answer) then
      return answer
    end
    answers[i] = 0
    if isHeld then
      if tonumber(ARGV[1]) > redis.call('pttl', key) then
        redis.call('pexpire', key, ARGV[1])
      end
      answers[i] = leaseEndOf(key)
    end
  end
  return answers
end

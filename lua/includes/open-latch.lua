-- openLatch(record, slot, latch, key): the latch opens now: deletes its count, which exists. Returns an error where the server refuses a
-- command. Then nothing was changed, and the record of the request is taken back (request-record.lua).

--- @include "request-record"
--- @include "latch-opened"
local function openLatch(record, slot, latch, key)
  local refusal, now = changeOnce(record, slot, 'time')
  -- The count exists, so this SET changes nothing. It finds out whether the server refuses the next one.
  refusal = refusal or changeOnce(record, slot, 'set', latch, '0', 'NX') or changeOnce(record, slot, 'del', latch)
  if refusal then
    return refusal
  end
  redis.call('set', key, string.format('%.0f', micros(now)), 'PX', '600000')
end

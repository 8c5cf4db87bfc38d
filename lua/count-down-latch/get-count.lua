-- Reads the count of a latch.
--
-- KEYS[1]  the latch: a number, absent at zero
--
-- Answers  the count; 0 if the key is absent
-- Error    WRONGTYPE where the key holds no count
--
-- Applied twice: it changes nothing.

--- @include "counter"
local wrong = counterError(KEYS[1])
if wrong then
  return wrong
end
return tonumber(redis.call('get', KEYS[1]) or '0')

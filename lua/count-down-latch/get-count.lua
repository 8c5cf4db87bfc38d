-- Reads the count of a latch.
--
-- KEYS[1]  the latch: a number, absent at zero
-- KEYS[2]  when the latch was last opened
--
-- Answers  {count, opened, ago}: the count as text, 0 if the key is absent; the moment of the last opening as text, '' where it is not
--          known; and how many µs ago that was, or -1
-- Error    WRONGTYPE where the key holds no count
--
-- Applied twice: it changes nothing.

--- @include "counter"
--- @include "latch-opened"
local wrong, value = counterError(KEYS[1])
if wrong then
  return wrong
end
local opened, ago = lastOpened(KEYS[2])
return {value or '0', opened, ago}

-- Reads the count of a latch.
--
-- KEYS[1]  the latch: a number, absent at zero
--
-- Answers  the count as text; 0 where the key is absent
-- Error    WRONGTYPE where the key holds no count
--
-- Applied twice: it changes nothing.

--- @include "counter"
local wrong, value = counterError(KEYS[1])
return wrong or value or '0'

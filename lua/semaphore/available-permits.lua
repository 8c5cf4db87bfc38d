-- Reads how many permits of a semaphore are free.
--
-- KEYS[1]  the semaphore: the number of permits that are free
--
-- Answers  the number; 0 where the semaphore does not exist
-- Error    WRONGTYPE where the key holds no count
--
-- Applied twice: it changes nothing.

--- @include "counter"
local wrong, value = counterError(KEYS[1])
return wrong or tonumber(value or '0')

-- Reads how many permits of a rate limiter are left.
--
-- KEYS[1]  the limiter
-- KEYS[2]  how many permits are left
-- KEYS[3]  the grants of the last interval
-- KEYS[4]  how many permits are left for this client
-- KEYS[5]  the grants of the last interval to this client
--
-- Answers  the number; -1 where the limiter was never set
-- Error    WRONGTYPE where a key holds something else
--
-- Applied twice: it changes nothing.

--- @include "server-time"
--- @include "rate-limiter"
local rate, interval, left, grants = readLimiter()
return rate and math.max(0, (leftAt(serverTime(), rate, interval, left, grants))) or -1

-- The newest token that was drawn, by any owner.
--
-- KEYS[1]  the token counter
--
-- Answers  the counter as text, '0' where no token was drawn yet
-- Error    WRONGTYPE where the counter is no string
--
-- Applied twice: it changes nothing.

return redis.call('get', KEYS[1]) or '0'

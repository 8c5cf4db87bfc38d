-- Sets `mode` to `read`, `write`, or false where the key KEYS[1] is absent. Ends the script with an error where the key holds no
-- read-write lock.

local mode = redis.call('hget', KEYS[1], 'mode')
if not mode and redis.call('exists', KEYS[1]) == 1 then
  return redis.error_reply('WRONGTYPE the key holds a lock that is no read-write lock')
end

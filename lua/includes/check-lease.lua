-- Ends the script with an error unless its local variable `lease` is a positive number.

if not lease or lease < 1 then
  return redis.error_reply('ERR the lease must be a positive number of ms')
end

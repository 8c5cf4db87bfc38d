-- passShortage(record): for scripts that release something. They must also work on a server without free memory. Such a server
-- refuses a command that may need memory, unless the script has written before. PEXPIRE is a write that needs no memory.
-- The record then expires a minute from now.

local function passShortage(record)
  redis.call('pexpire', record, '60000')
end

-- passShortage(record): for scripts that release something. They must also work on a server without free memory. Such a server
-- refuses a command that may need memory, unless the script has written before. PEXPIRE is a write that needs no memory.
-- Returns whether the record exists; then it expires a minute from now.

local function passShortage(record)
  return redis.call('pexpire', record, '60000') == 1
end

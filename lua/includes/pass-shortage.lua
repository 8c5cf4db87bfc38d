-- passShortage(record): for scripts that release something, which must work on a server that is short of memory. Such a
-- server refuses a command that may take memory, unless the script has written before. PEXPIRE is a write that takes none.
-- Returns whether there is such a record: then it expires a minute from now.

local function passShortage(record)
  return redis.call('pexpire', record, '60000') == 1
end

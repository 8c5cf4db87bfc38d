-- passShortage(record): for what frees. A server that is short of memory refuses what may take some, unless the script has
-- written before.

local function passShortage(record)
  redis.call('pexpire', record, '60000')
end

-- notify(publish, channel, message): publishes, and returns how many clients the server counts as listeners; nothing
-- where the server refused (ACL). A refusal does not fail the script, whose other commands have taken effect.

local function notify(publish, channel, message)
  local heard = redis.pcall(publish, channel, message)
  if type(heard) == 'number' then
    return heard
  end
end

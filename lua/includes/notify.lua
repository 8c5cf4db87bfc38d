-- notify(publish, channel, message): publishes a message. Returns how many clients heard it, or nil if the server refused it
-- (ACL). A refusal does not fail the script, because its other commands have taken effect.

local function notify(publish, channel, message)
  local heard = redis.pcall(publish, channel, message)
  if type(heard) == 'number' then
    return heard
  end
end

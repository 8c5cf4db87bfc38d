-- How a request that was recorded ends. Reads the local variables `slot`, `request` and `record`.
--
-- notifyOnce(answer, publish, channel, message): publishes the message if the recorded answer is 1: a message is due. Returns the
-- answer; it is 2 where the server refused the message, and then it is recorded, too.

--- @include "notify"
local function notifyOnce(answer, publish, channel, message)
  if answer == 1 and not notify(publish, channel, message) then
    answer = 2
    recordAnswer(record, slot, request, answer)
  end
  return answer
end

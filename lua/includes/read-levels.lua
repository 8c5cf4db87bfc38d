-- eachLevel(first, count, visit): calls visit with the number of each level of a read hold, from `first` to `count`. visit
-- returns whether the level had its read timeout key.
--
-- The count may be wrong if another program wrote it, so the time must not depend on it alone. After GAP levels in a row
-- without a key, the visits go on from the top downwards, and end after GAP levels without a key there. So every level of a
-- hold of up to 2 * GAP levels is visited. In a deeper hold a level may be left out only if more than GAP levels in a row
-- have expired.

local GAP = 1000

local function eachLevel(first, count, visit)
  local level, missing = first, 0
  while level <= count and missing < GAP do
    missing = visit(level) and 0 or missing + 1
    level = level + 1
  end
  local lowest = level
  level, missing = count, 0
  while level >= lowest and missing < GAP do
    -- As text: Lua writes a number of more than 14 digits with an exponent, and the key would have another name.
    missing = visit(string.format('%.0f', level)) and 0 or missing + 1
    level = level - 1
  end
end

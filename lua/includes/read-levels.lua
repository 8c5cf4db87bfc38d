-- eachLevel(first, count, visit): calls visit with the numbers of the levels of a read hold, from `first` to `count`. It
-- answers whether the level had its read timeout key.
--
-- Only levels that exist cost time. The count may be wrong, where another program wrote it: after GAP levels in a row
-- without a key this goes on from the top downwards, and ends after as many there. So every hold of up to 2 * GAP levels
-- is visited level by level, and a deeper one too, unless more of its levels than GAP have run out in a row.

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
    -- As Lua writes a number of more than 14 digits it would be another name.
    missing = visit(string.format('%.0f', level)) and 0 or missing + 1
    level = level - 1
  end
end

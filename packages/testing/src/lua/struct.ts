/**
 * `struct.pack` and `struct.unpack`, written in Lua, as Redis has them: whole numbers of 1 to 8 bytes (`b B h H i I l L`, with a size behind
 * `i` and `I`), `c` with a length or with the number before it, `s`, `x`, and `<` or `>` for the order of bytes. Numbers are not aligned.
 */
export const STRUCT = `
local SIZES = { b = 1, B = 1, h = 2, H = 2, i = 4, I = 4, l = 8, L = 8, c = 1 }

-- Calls visit(option, size, isLittle) for each option.
local function each(format, visit)
  local isLittle, at = true, 1
  while at <= #format do
    local option = string.sub(format, at, at)
    local digits = string.match(format, '^%d+', at + 1) or ''
    if option ~= 'i' and option ~= 'I' and option ~= 'c' then
      digits = ''
    end
    at = at + 1 + #digits
    if option == '<' or option == '=' then
      isLittle = true
    elseif option == '>' then
      isLittle = false
    elseif option ~= ' ' then
      if not SIZES[option] and option ~= 's' and option ~= 'x' then
        error("invalid format option '" .. option .. "'", 0)
      end
      visit(option, digits == '' and SIZES[option] or tonumber(digits), isLittle)
    end
  end
end

local function packed(value, size, isLittle)
  local bytes = {}
  value = math.floor(value)
  for at = 1, size do
    bytes[isLittle and at or size + 1 - at] = string.char(value % 256)
    value = math.floor(value / 256)
  end
  return table.concat(bytes)
end

local function unpacked(text, isLittle, isSigned)
  local value, isNegative = 0, isSigned and string.byte(text, isLittle and #text or 1) > 127
  for at = 1, #text do
    local byte = string.byte(text, isLittle and #text + 1 - at or at)
    value = value * 256 + (isNegative and 255 - byte or byte)
  end
  return isNegative and -value - 1 or value
end

struct = {
  pack = function(format, ...)
    local given, next, out = { ... }, 0, {}
    each(format, function(option, size, isLittle)
      next = option == 'x' and next or next + 1
      local value = given[next]
      if option == 'x' then
        out[#out + 1] = '\\0'
      elseif option == 's' then
        out[#out + 1] = value .. '\\0'
      elseif option == 'c' then
        size = size == 0 and #value or size
        if #value < size then
          error('string too short', 0)
        end
        out[#out + 1] = string.sub(value, 1, size)
      else
        out[#out + 1] = packed(tonumber(value), size, isLittle)
      end
    end)
    return table.concat(out)
  end,
  unpack = function(format, text, from)
    local at, out = from or 1, {}
    each(format, function(option, size, isLittle)
      if option == 's' then
        local ending = string.find(text, '\\0', at, true)
        if not ending then
          error('unfinished string in data', 0)
        end
        out[#out + 1] = string.sub(text, at, ending - 1)
        at = ending + 1
        return
      end
      if option == 'x' then
        size = 1
      elseif option == 'c' and size == 0 then
        size = table.remove(out)
      end
      if #text - at + 1 < size then
        error('data string too short', 0)
      end
      local part = string.sub(text, at, at + size - 1)
      at = at + size
      if option == 'c' then
        out[#out + 1] = part
      elseif option ~= 'x' then
        out[#out + 1] = unpacked(part, isLittle, string.find(option, '%l') ~= nil)
      end
    end)
    out[#out + 1] = at
    return unpack(out)
  end,
}
`

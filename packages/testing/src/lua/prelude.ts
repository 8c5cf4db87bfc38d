import { STRUCT } from './struct'

/**
 * The Redis API for scripts, written in Lua over one function, `command`. That function returns a reply, or nil and what makes a
 * table: `list` and the elements, `ok` and a status, or `err` and the message of a command that failed. Afterwards globals are read-only, and functions that reach the file system are gone, as in Redis.
 *
 * Returns the error handler, which adds the line of the script in which an error happened.
 */
export const PRELUDE = `
local command, sha1hex = ...
local getinfo, error, type = debug.getinfo, error, type

local function reply(value, kind, ...)
  if value ~= nil then
    return value
  end
  if kind == 'list' then
    return { ... }
  end
  return { [kind] = (...) }
end

local function replyOrError(value, kind, ...)
  if kind == 'err' then
    error({ err = (...) }, 0)
  end
  return reply(value, kind, ...)
end

redis = {
  call = function(...)
    return replyOrError(command(...))
  end,
  pcall = function(...)
    return reply(command(...))
  end,
  sha1hex = function(...)
    if select('#', ...) ~= 1 then
      error({ err = 'ERR wrong number of arguments' }, 0)
    end
    return sha1hex((...))
  end,
  error_reply = function(...)
    local message = ...
    if select('#', ...) ~= 1 or type(message) ~= 'string' then
      return { err = 'ERR wrong number or type of arguments' }
    end
    message = string.gsub(message, '^%-', '')
    return { err = string.find(message, ' ', 1, true) and message or 'ERR ' .. message }
  end,
  status_reply = function(...)
    local message = ...
    if select('#', ...) ~= 1 or type(message) ~= 'string' then
      return { err = 'ERR wrong number or type of arguments' }
    end
    return { ok = message }
  end,
  log = function() end,
  LOG_DEBUG = 0,
  LOG_VERBOSE = 1,
  LOG_NOTICE = 2,
  LOG_WARNING = 3,
}
${STRUCT}
KEYS, ARGV = {}, {}
io, os, debug, package, require, module, dofile, loadfile, print, newproxy = nil

setmetatable(_G, {
  __index = function(_, name)
    error("Script attempted to access nonexistent global variable '" .. tostring(name) .. "'", 2)
  end,
  __newindex = function(_, name)
    error("Script attempted to create global variable '" .. tostring(name) .. "'", 2)
  end,
})

return function(err)
  if type(err) ~= 'table' then
    err = { err = 'ERR ' .. tostring(err) }
  end
  local level = 2
  local found = getinfo(level, 'Sl')
  while found and found.source ~= '@user_script' do
    level = level + 1
    found = getinfo(level, 'Sl')
  end
  err.line = found and found.currentline
  return err
end
`

/** A function that runs a script with so many keys. Its arguments are the script, the keys, and the arguments of the script. */
export function runnerFor(keys: number): string {
  const names = Array.from({ length: keys }, (_, index) => `key${index}`)
  return `
local rawset, globals = rawset, _G
return function(${['script', ...names, '...'].join(', ')})
  rawset(globals, 'KEYS', { ${names.join(', ')} })
  rawset(globals, 'ARGV', { ... })
  return (script())
end
`
}

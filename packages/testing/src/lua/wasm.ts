import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { compileFunction, constants } from 'node:vm'

/** The functions of Lua's C API that this folder uses, as the WebAssembly module of `wasmoon-lua5.1` exports them. */
export interface LuaWasm {
  readonly HEAPU8: Uint8Array
  _malloc(bytes: number): number
  _free(pointer: number): void
  /** Returns a pointer by which C can call a function of JavaScript. */
  addFunction(fn: (state: number) => number, signature: string): number
  _luaL_newstate(): number
  _luaL_openlibs(state: number): void
  _luaL_loadbuffer(state: number, text: number, length: number, name: number): number
  _luaL_ref(state: number, table: number): number
  _luaL_unref(state: number, table: number, reference: number): void
  _lua_pcall(state: number, args: number, results: number, handler: number): number
  _lua_settop(state: number, top: number): void
  _lua_pushnumber(state: number, value: number): void
  _lua_pushboolean(state: number, value: number): void
  _lua_pushlstring(state: number, text: number, length: number): void
  _lua_pushcclosure(state: number, fn: number, upvalues: number): void
  _lua_createtable(state: number, elements: number, fields: number): void
  _lua_rawgeti(state: number, table: number, at: number): void
  _lua_rawseti(state: number, table: number, at: number): void
  _lua_rawget(state: number, table: number): void
  _lua_rawset(state: number, table: number): void
  _lua_checkstack(state: number, more: number): number
}

const PACKAGE = 'wasmoon-lua5.1'

interface Lua {
  readonly LuaApi: { initialize(): Promise<{ module: LuaWasm }> }
}

/** Loads the virtual machine. */
export async function loadWasm(): Promise<LuaWasm> {
  try {
    const lua: Lua = require(PACKAGE)
    return (await lua.LuaApi.initialize()).module
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (!/^ERR_VM_DYNAMIC_IMPORT/.test(code ?? '') && !/dynamic import/.test(message)) throw error
    return (await beyondJest().LuaApi.initialize()).module
  }
}

/** The package imports a module of Node while it runs. Jest's loader cannot do that, so Node's own takes its place. */
function beyondJest(): Lua {
  const filename = require.resolve(PACKAGE)
  // Node has this constant from 20.12 on.
  const loader = (constants as Partial<typeof constants> | undefined)?.USE_MAIN_CONTEXT_DEFAULT_LOADER
  if (loader === undefined) throw new Error('In Jest, @rlock/testing needs Node 20.12 or later')
  const names = ['exports', 'require', 'module', '__filename', '__dirname']
  const options = { filename, importModuleDynamically: loader }
  const run = compileFunction(readFileSync(filename, 'utf8'), names, options)
  const module = { exports: {} as Lua }
  run.call(module.exports, module.exports, require, module, filename, dirname(filename))
  return module.exports
}

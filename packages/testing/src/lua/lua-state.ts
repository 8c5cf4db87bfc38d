import { type Reply, Status } from '../data/reply'
import type { LuaWasm } from './wasm'

const REGISTRY = -10_000
const GLOBALS = -10_002
const ENOUGH = 20
/** Texts up to this length pass through one place in the memory of the machine. */
const SCRATCH = 1024
/** Shorter texts are copied faster by hand. */
const SHORT = 64

enum Type {
  Boolean = 1,
  Number = 3,
  String = 4,
  Table = 5,
}

/** A Lua value that is not a table, as an argument of a command. */
export type Scalar = string | number | boolean | null | undefined

/** The stack of one Lua state, with strings of bytes. */
export class LuaState {
  private readonly length: number
  private readonly scratch: number
  private readonly state: number
  private view: Buffer = Buffer.alloc(0)

  constructor(private readonly wasm: LuaWasm) {
    this.length = wasm._malloc(4)
    this.scratch = wasm._malloc(SCRATCH)
    this.state = wasm._luaL_newstate()
    wasm._luaL_openlibs(this.state)
  }

  get top(): number {
    return this.wasm._lua_gettop(this.state)
  }

  set top(top: number) {
    this.wasm._lua_settop(this.state, top)
  }

  /** Compiles a text. Pushes the function; if the text does not compile, pushes the message and answers false. */
  compile(text: string, name: string): boolean {
    return this.withText(text, (start, length) =>
      this.withText(
        `${name}\0`,
        (chunk) => this.wasm._luaL_loadbuffer(this.state, start, length, chunk) === 0,
      ),
    )
  }

  /** Calls the function below this many arguments. False: the error that the handler at `handler` returned is on the stack. */
  call(args: number, handler: number): boolean {
    return this.wasm._lua_pcall(this.state, args, 1, handler) === 0
  }

  /** Pops a value and keeps it; `pushKept` pushes it again. */
  keep(): number {
    return this.wasm._luaL_ref(this.state, REGISTRY)
  }

  pushKept(reference: number): void {
    this.wasm._lua_rawgeti(this.state, REGISTRY, reference)
  }

  pushFunction(fn: () => void): void {
    const pointer = this.wasm.addFunction(() => {
      fn()
      return 1
    }, 'ii')
    this.wasm._lua_pushcclosure(this.state, pointer, 0)
  }

  setGlobalList(name: string, elements: readonly string[]): void {
    this.pushText(name)
    this.pushReply(elements)
    this.wasm._lua_rawset(this.state, GLOBALS)
  }

  pushText(text: string): void {
    const { length } = text
    if (length > SCRATCH)
      return this.withText(text, (start) => this.wasm._lua_pushlstring(this.state, start, length))
    const { memory, scratch } = this
    if (length > SHORT) memory.write(text, scratch, 'latin1')
    else for (let at = 0; at < length; at++) memory[scratch + at] = text.charCodeAt(at)
    this.wasm._lua_pushlstring(this.state, scratch, length)
  }

  /** The memory of the machine. It is another one when it has grown. */
  private get memory(): Buffer {
    const { buffer } = this.wasm.HEAPU8
    if (this.view.buffer !== buffer) this.view = Buffer.from(buffer)
    return this.view
  }

  /** Pushes a reply as Redis passes it to Lua: nil as false, a status as a table. */
  pushReply(reply: Reply): void {
    const { wasm, state } = this
    if (typeof reply === 'number') wasm._lua_pushnumber(state, reply)
    else if (typeof reply === 'string') this.pushText(reply)
    else if (reply === null) wasm._lua_pushboolean(state, 0)
    else if (reply instanceof Status) this.pushField('ok', reply.text)
    else {
      wasm._lua_checkstack(state, ENOUGH)
      wasm._lua_createtable(state, reply.length, 0)
      reply.forEach((element, at) => {
        this.pushReply(element)
        wasm._lua_rawseti(state, -2, at + 1)
      })
    }
  }

  pushError(message: string): void {
    this.pushField('err', message)
  }

  private pushField(field: string, text: string) {
    this.wasm._lua_createtable(this.state, 0, 1)
    this.pushText(field)
    this.pushText(text)
    this.wasm._lua_rawset(this.state, -3)
  }

  isTable(at: number): boolean {
    return this.wasm._lua_type(this.state, at) === Type.Table
  }

  /** The value at this index; undefined for a table and for nil. */
  scalar(at: number): Scalar {
    const { wasm, state } = this
    const type = wasm._lua_type(state, at)
    if (type === Type.Number) return wasm._lua_tonumber(state, at)
    if (type === Type.Boolean) return wasm._lua_toboolean(state, at) === 1
    return type === Type.String ? this.text(at) : undefined
  }

  /** A field of the table on top of the stack; undefined if the field is a table itself. */
  field(name: string): Scalar {
    this.pushText(name)
    this.wasm._lua_rawget(this.state, -2)
    const value = this.scalar(-1)
    this.top--
    return value
  }

  /** The elements of the table on top of the stack, up to the first nil. `read` reads the element on top. */
  elements<T>(read: () => T): T[] {
    const { wasm, state } = this
    const elements: T[] = []
    wasm._lua_checkstack(state, ENOUGH)
    for (let at = 1; ; at++) {
      wasm._lua_rawgeti(state, -1, at)
      const isEnd = wasm._lua_type(state, -1) <= 0
      if (!isEnd) elements.push(read())
      this.top--
      if (isEnd) return elements
    }
  }

  private text(at: number): string {
    const { wasm, length } = this
    const start = wasm._lua_tolstring(this.state, at, length)
    const { memory } = this
    return memory.toString('latin1', start, start + memory.readInt32LE(length))
  }

  private withText<T>(text: string, use: (start: number, length: number) => T): T {
    const { wasm } = this
    const start = wasm._malloc(text.length + 1)
    try {
      this.memory.write(text, start, 'latin1')
      return use(start, text.length)
    } finally {
      wasm._free(start)
    }
  }
}

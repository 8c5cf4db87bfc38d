import { type Reply, Status } from '../data/keyspace'
import { LuaMemory, Type, VALUE } from './lua-memory'
import type { LuaWasm } from './wasm'

const REGISTRY = -10_000
const GLOBALS = -10_002
/** A function of JavaScript finds room for so many values on its stack, and a few more that one call pushes beside them. */
const ROOM = 15
/** A longer list is made here, because so many values have no room on a stack. */
const MOST_ELEMENTS = 1_000

/** A Lua value that is not a table, as an argument of a command. */
export type Scalar = string | number | boolean | null | undefined

/** A Lua value on the stack: its place. It is valid until something is called. */
export type Place = number

/** The stack of one Lua state, with strings of bytes. */
export class LuaState {
  private readonly memory: LuaMemory
  /** The coroutine that runs. */
  private state: number

  constructor(private readonly wasm: LuaWasm) {
    this.state = wasm._luaL_newstate()
    wasm._luaL_openlibs(this.state)
    this.memory = new LuaMemory(wasm, this.state)
  }

  /** Takes everything from the stack. */
  clear(): void {
    this.memory.setTop(this.state, this.memory.base(this.state))
  }

  /** Compiles a text. Pushes the function; if the text does not compile, pushes the message and answers false. */
  compile(text: string, name: string): boolean {
    const { memory } = this
    return memory.withText(text, (start, length) =>
      memory.withText(
        `${name}\0`,
        (chunk) => this.wasm._luaL_loadbuffer(this.state, start, length, chunk) === 0,
      ),
    )
  }

  /** Calls the function below this many arguments. False: the error that the handler at `handler` returned is on the stack. */
  call(args: number, handler: number): boolean {
    return this.wasm._lua_pcall(this.state, args, 1, handler) === 0
  }

  /** Pops a function and keeps it; `pushKept` pushes it again. */
  keep(): number {
    const { memory, state } = this
    const pointer = memory.pointer(memory.last(state))
    this.wasm._luaL_ref(state, REGISTRY)
    return pointer
  }

  pushKept(pointer: number): void {
    this.memory.push(this.state, pointer, Type.Function)
  }

  /** `fn` answers how many values it has pushed. */
  pushFunction(fn: () => number): void {
    const called = (state: number) => {
      const before = this.state
      this.state = state
      try {
        return fn()
      } finally {
        this.state = before
      }
    }
    const pointer = this.wasm.addFunction(called, 'ii')
    this.wasm._lua_pushcclosure(this.state, pointer, 0)
  }

  /** Pushes all of them. */
  pushTexts(texts: readonly string[]): void {
    this.makeRoom(texts.length)
    for (const text of texts) this.memory.pushText(this.state, text)
  }

  setGlobalList(name: string, elements: readonly string[]): void {
    this.pushText(name)
    this.pushNested(elements)
    this.wasm._lua_rawset(this.state, GLOBALS)
  }

  pushText(text: string): void {
    this.memory.pushText(this.state, text)
  }

  /** Pushes a reply for `reply()` of the prelude, which makes a table of all but the first, and answers how many values that are. */
  pushReply(reply: Reply): number {
    const { memory, state } = this
    if (typeof reply === 'number') memory.pushNumber(state, reply)
    else if (typeof reply === 'string') memory.pushText(state, reply)
    else if (reply === null) memory.push(state, 0, Type.Boolean)
    else if (reply instanceof Status) return this.pushTable('ok', [reply.text])
    else if (reply.length <= MOST_ELEMENTS) return this.pushTable('list', reply)
    else this.pushNested(reply)
    return 1
  }

  pushError(message: string): number {
    return this.pushTable('err', [message])
  }

  private pushTable(kind: string, elements: readonly Reply[]): number {
    const { memory, state } = this
    this.makeRoom(elements.length)
    memory.push(state, 0, Type.Nil)
    memory.pushText(state, kind)
    for (const element of elements)
      if (Array.isArray(element) || element instanceof Status) this.pushNested(element)
      else this.pushReply(element)
    return elements.length + 2
  }

  /** A table that the prelude does not make: one in a table, or a long one. */
  private pushNested(reply: readonly Reply[] | Status) {
    const { wasm, state } = this
    wasm._lua_checkstack(state, ROOM)
    wasm._lua_createtable(state, 0, 0)
    if (reply instanceof Status) {
      this.pushText('ok')
      this.pushText(reply.text)
      return wasm._lua_rawset(state, -3)
    }
    reply.forEach((element, at) => {
      if (Array.isArray(element) || element instanceof Status) this.pushNested(element)
      else this.pushReply(element)
      wasm._lua_rawseti(state, -2, at + 1)
    })
  }

  private makeRoom(values: number) {
    if (values > ROOM) this.wasm._lua_checkstack(this.state, values + ROOM)
  }

  /** How many values the function that runs was given. */
  get count(): number {
    const { memory, state } = this
    return (memory.top(state) - memory.base(state)) / VALUE
  }

  /** An argument of the function that runs, from 0; undefined for a table and for nil. */
  argument(at: number): Scalar {
    return this.scalar(this.memory.base(this.state) + at * VALUE)
  }

  /** The value on top of the stack. */
  get last(): Place {
    return this.memory.last(this.state)
  }

  isTable(place: Place): boolean {
    return this.memory.typeAt(place) === Type.Table
  }

  /** Undefined for a table and for nil. */
  scalar(place: Place): Scalar {
    const { memory, state } = this
    switch (memory.typeAt(place)) {
      case Type.Number:
        return memory.number(place)
      case Type.String:
        return memory.text(state, place)
      case Type.Boolean:
        return memory.boolean(place)
      default:
        return undefined
    }
  }

  /** A field of a table; undefined if the field is a table itself. */
  field(place: Place, name: string): Scalar {
    const { memory, state, wasm } = this
    const table = memory.pointer(place)
    if (!memory.hasFields(table)) return undefined
    const top = memory.top(state)
    memory.push(state, table, Type.Table)
    memory.pushText(state, name)
    wasm._lua_rawget(state, -2)
    const value = this.scalar(this.last)
    memory.setTop(state, top)
    return value
  }

  /** The elements of a table, up to the first nil, as `read` reads them. */
  elements<T>(place: Place, read: (element: Place) => T): T[] {
    const { memory } = this
    const [elements, table]: [T[], number] = [[], memory.pointer(place)]
    const { first, size } = memory.elements(table)
    for (let at = 0; at < size; at++) {
      const element = first + at * VALUE
      if (memory.typeAt(element) === Type.Nil) return elements
      elements.push(read(element))
    }
    if (memory.hasFields(table)) this.elementsBehind(table, elements, read)
    return elements
  }

  /** Lua may have the last elements of a list, or all, among the fields of its table. */
  private elementsBehind<T>(table: number, elements: T[], read: (element: Place) => T) {
    const { memory, wasm, state } = this
    const top = memory.top(state)
    wasm._lua_checkstack(state, ROOM)
    memory.push(state, table, Type.Table)
    for (;;) {
      wasm._lua_rawgeti(state, -1, elements.length + 1)
      const { last } = this
      if (memory.typeAt(last) === Type.Nil) break
      elements.push(read(last))
      memory.setTop(state, last)
    }
    memory.setTop(state, top)
  }
}

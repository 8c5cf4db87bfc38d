import type { LuaWasm } from './wasm'

/** The types of Lua values, as a value has them beside it. */
export enum Type {
  Nil = 0,
  Boolean = 1,
  Number = 3,
  String = 4,
  Table = 5,
  Function = 6,
}

/** In bytes: 8 for a number, a pointer or a boolean, and then its type. */
export const VALUE = 16

/** Where Lua 5.1 has what this folder reads, with pointers of four bytes, in words of four bytes. */
const AT = {
  state: { top: 2, base: 3 },
  value: { type: 2 },
  text: { length: 3, bytes: 4 },
  table: { array: 3, node: 4, size: 7 },
}

/** Texts up to this length pass through one place in the memory of the machine. */
const SCRATCH = 1024
/** Shorter texts are copied faster by hand. */
const SHORT = 48
/** Longer texts are not kept. */
const KEPT_LENGTH = 100
const MOST_KEPT = 4_000
const REGISTRY = -10_000

/**
 * The stacks and the values of a Lua machine, read and written where they are in its memory. To ask the machine for each of them
 * takes longer than most scripts run.
 *
 * Lua has each short text once. So a text that the registry keeps has one place, and is known by it in both directions.
 */
export class LuaMemory {
  private words: Int32Array = new Int32Array(0)
  private doubles: Float64Array = new Float64Array(0)
  private bytes: Buffer = Buffer.alloc(0)
  private readonly scratch: number
  private readonly places = new Map<string, number>()
  private readonly texts = new Map<number, string>()
  private readonly references: number[] = []
  /** The fields of a table that has none. */
  private readonly noFields: number

  /** Throws an error if values are not where they are expected. */
  constructor(
    private readonly wasm: LuaWasm,
    state: number,
  ) {
    this.scratch = wasm._malloc(SCRATCH)
    this.refresh()
    wasm._lua_createtable(state, 0, 0)
    this.noFields = this.word(this.pointer(this.last(state)), AT.table.node)
    this.setTop(state, this.base(state))
    this.check(state)
  }

  /** The memory is another one when it has grown, and the views of the one before are empty. */
  private refresh() {
    const { buffer } = this.wasm.HEAPU8
    this.words = new Int32Array(buffer)
    this.doubles = new Float64Array(buffer)
    this.bytes = Buffer.from(buffer)
  }

  private word(pointer: number, at: number): number {
    if (this.words.length === 0) this.refresh()
    return this.words[(pointer >> 2) + at]!
  }

  /** The place of the first value of the function that runs. */
  base(state: number): number {
    return this.word(state, AT.state.base)
  }

  /** The place behind the last value. */
  top(state: number): number {
    return this.word(state, AT.state.top)
  }

  last(state: number): number {
    return this.top(state) - VALUE
  }

  setTop(state: number, top: number): void {
    if (this.words.length === 0) this.refresh()
    this.words[(state >> 2) + AT.state.top] = top
  }

  typeAt(place: number): Type {
    return this.word(place, AT.value.type)
  }

  number(place: number): number {
    if (this.doubles.length === 0) this.refresh()
    return this.doubles[place >> 3]!
  }

  boolean(place: number): boolean {
    return this.word(place, 0) !== 0
  }

  pointer(place: number): number {
    return this.word(place, 0)
  }

  /** The text at this place of the stack. */
  text(state: number, place: number): string {
    const pointer = this.pointer(place)
    const known = this.texts.get(pointer)
    if (known !== undefined) return known
    const text = this.read(pointer)
    if (text.length <= KEPT_LENGTH) {
      this.push(state, pointer, Type.String)
      this.keep(state, text)
    }
    return text
  }

  private read(pointer: number): string {
    const length = this.word(pointer, AT.text.length)
    const start = pointer + 4 * AT.text.bytes
    return this.bytes.toString('latin1', start, start + length)
  }

  /** Takes the text on top from the stack. */
  private keep(state: number, text: string) {
    if (this.references.length >= MOST_KEPT) this.forget(state)
    const pointer = this.pointer(this.last(state))
    this.references.push(this.wasm._luaL_ref(state, REGISTRY))
    this.places.set(text, pointer)
    this.texts.set(pointer, text)
  }

  private forget(state: number) {
    for (const reference of this.references.splice(0)) this.wasm._luaL_unref(state, REGISTRY, reference)
    this.places.clear()
    this.texts.clear()
  }

  pushText(state: number, text: string): void {
    const place = this.places.get(text)
    if (place !== undefined) return this.push(state, place, Type.String)
    const { length } = text
    if (length > KEPT_LENGTH) return this.pushLong(state, text)
    this.pushNew(state, text)
    const pointer = this.pointer(this.last(state))
    this.keep(state, text)
    this.push(state, pointer, Type.String)
  }

  private pushLong(state: number, text: string) {
    if (text.length <= SCRATCH) this.pushNew(state, text)
    else this.withText(text, (start) => this.wasm._lua_pushlstring(state, start, text.length))
  }

  private pushNew(state: number, text: string) {
    const { length } = text
    const { scratch } = this
    if (this.words.length === 0) this.refresh()
    const { bytes } = this
    if (length > SHORT) bytes.write(text, scratch, 'latin1')
    else for (let at = 0; at < length; at++) bytes[scratch + at] = text.charCodeAt(at)
    this.wasm._lua_pushlstring(state, scratch, length)
  }

  /** Pushes something of which the registry keeps one. There must be room. */
  push(state: number, pointer: number, type: Type): void {
    const top = this.top(state)
    this.words[top >> 2] = pointer
    this.words[(top >> 2) + AT.value.type] = type
    this.setTop(state, top + VALUE)
  }

  pushNumber(state: number, value: number): void {
    const top = this.top(state)
    this.doubles[top >> 3] = value
    this.words[(top >> 2) + AT.value.type] = Type.Number
    this.setTop(state, top + VALUE)
  }

  /** Whether a table has anything but the elements of its list. */
  hasFields(table: number): boolean {
    return this.word(table, AT.table.node) !== this.noFields
  }

  /** Where the elements of a table are, of which nil is behind the last. */
  elements(table: number): { readonly first: number; readonly size: number } {
    return { first: this.word(table, AT.table.array), size: this.word(table, AT.table.size) }
  }

  withText<T>(text: string, use: (start: number, length: number) => T): T {
    const { wasm } = this
    const start = wasm._malloc(text.length + 1)
    try {
      if (this.words.length === 0) this.refresh()
      this.bytes.write(text, start, 'latin1')
      return use(start, text.length)
    } finally {
      wasm._free(start)
    }
  }

  /** Another build of the machine may have its values elsewhere. */
  private check(state: number) {
    const { wasm } = this
    const [text, base] = ['a text', this.base(state)]
    wasm._lua_pushnumber(state, 1.5)
    this.pushNew(state, text)
    wasm._lua_pushboolean(state, 1)
    wasm._lua_createtable(state, 1, 0)
    wasm._lua_pushnumber(state, 2.5)
    wasm._lua_rawseti(state, -2, 1)
    const [number, string, boolean, table] = [0, 1, 2, 3].map((at) => base + at * VALUE)
    const types = [number, string, boolean, table].map((place) => this.typeAt(place!))
    const { first, size } = this.elements(this.pointer(table!))
    const isAsExpected =
      types.join() === [Type.Number, Type.String, Type.Boolean, Type.Table].join() &&
      this.number(number!) === 1.5 &&
      this.read(this.pointer(string!)) === text &&
      this.boolean(boolean!) &&
      size === 1 &&
      this.number(first) === 2.5 &&
      !this.hasFields(this.pointer(table!)) &&
      this.top(state) === base + 4 * VALUE
    wasm._lua_settop(state, 0)
    if (!isAsExpected || this.top(state) !== base)
      throw new Error('@rlock/testing cannot use this version of wasmoon-lua5.1')
  }
}

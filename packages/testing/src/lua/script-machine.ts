import { createHash } from 'node:crypto'
import { type Reply, ReplyError, Status } from '../data/keyspace'
import { doubleText } from '../data/numbers'
import { LuaState, type Place } from './lua-state'
import { PRELUDE, runnerFor } from './prelude'
import { loadWasm } from './wasm'

/** Runs a command of a script; throws ReplyError. */
export type RunCommand = (name: string, args: readonly string[]) => Reply

/** From here on, a double is not a 64-bit integer. C then converts it to the smallest one on the usual processors. */
const TOO_LARGE = 2 ** 63

let machine: Promise<ScriptMachine> | undefined

/** The virtual machine of this process. Rejects if its package is not installed. */
export function scriptMachine(): Promise<ScriptMachine> {
  machine ??= loadWasm().then((wasm) => new ScriptMachine(new LuaState(wasm)))
  machine.catch(() => {
    machine = undefined
  })
  return machine
}

/** A script with more keys, or more keys and arguments, gets them one by one. */
const MOST_KEYS = 8
const MOST_TEXTS = 100

/** Runs scripts as Redis 7 does: with Lua 5.1, the same conversions of replies, and the same error messages. */
export class ScriptMachine {
  /** By their sources. */
  private readonly compiled = new Map<string, number>()
  /** By their numbers of keys. */
  private readonly runners: (number | undefined)[] = []
  private readonly errorHandler: number
  private runCommand: RunCommand = () => null

  constructor(private readonly lua: LuaState) {
    if (!lua.compile(PRELUDE, '=redis')) throw new Error(String(lua.scalar(lua.last)))
    lua.pushFunction(() => this.commandOfScript())
    lua.pushFunction(() => {
      lua.pushText(sha1(String(lua.argument(0))))
      return 1
    })
    if (!lua.call(2, 0)) throw new Error(String(lua.scalar(lua.last)))
    this.errorHandler = lua.keep()
  }

  /** Runs a script to its end; throws ReplyError. All strings are of bytes. */
  run(source: string, keys: readonly string[], args: readonly string[], runCommand: RunCommand): Reply {
    const { lua } = this
    const script = this.compiled.get(source) ?? this.compile(source)
    const texts = keys.length + args.length
    const isShort = keys.length <= MOST_KEYS && texts <= MOST_TEXTS
    const runner = isShort ? (this.runners[keys.length] ?? this.newRunner(keys.length)) : script
    this.runCommand = runCommand
    try {
      lua.pushKept(this.errorHandler)
      lua.pushKept(runner)
      if (isShort) {
        lua.pushKept(script)
        lua.pushTexts(keys)
        lua.pushTexts(args)
      } else {
        lua.setGlobalList('KEYS', keys)
        lua.setGlobalList('ARGV', args)
      }
      if (!lua.call(isShort ? texts + 1 : 0, 1)) throw this.errorOnTop(sha1(source))
      return this.replyAt(lua.last)
    } finally {
      lua.clear()
    }
  }

  private newRunner(keys: number): number {
    const { lua } = this
    if (!lua.compile(runnerFor(keys), '=redis') || !lua.call(0, 0)) {
      const message = String(lua.scalar(lua.last))
      lua.clear()
      throw new Error(message)
    }
    const runner = lua.keep()
    this.runners[keys] = runner
    return runner
  }

  private compile(source: string): number {
    const { lua } = this
    if (!lua.compile(source, '@user_script')) {
      const message = String(lua.scalar(lua.last))
      lua.clear()
      throw new ReplyError(`ERR Error compiling script (new function): ${message}`)
    }
    const script = lua.keep()
    this.compiled.set(source, script)
    return script
  }

  /** `redis.call` and `redis.pcall`: takes the arguments from the stack, pushes the reply, and answers how many values that are. */
  private commandOfScript(): number {
    const { lua } = this
    const { count } = lua
    if (count === 0) return lua.pushError('ERR Please specify at least one argument for this redis lib call')
    let name = ''
    const args: string[] = []
    for (let at = 0; at < count; at++) {
      const given = lua.argument(at)
      const word = typeof given === 'number' ? doubleText(given) : given
      if (typeof word !== 'string')
        return lua.pushError('ERR Lua redis lib command arguments must be strings or integers')
      if (at === 0) name = word
      else args.push(word)
    }
    try {
      return lua.pushReply(this.runCommand(name.toLowerCase(), args))
    } catch (error) {
      if (!(error instanceof ReplyError)) throw error
      return lua.pushError(error.message)
    }
  }

  private errorOnTop(sha: string): ReplyError {
    const { lua } = this
    const { last } = lua
    if (!lua.isTable(last)) return new ReplyError(`ERR ${String(lua.scalar(last))}`)
    const line = lua.field(last, 'line')
    const where = line === undefined ? '' : ` script: ${sha}, on @user_script:${line}.`
    return new ReplyError(`${lua.field(last, 'err') ?? 'ERR unknown error'}${where}`)
  }

  /** Reads a value as Redis does: numbers lose their fraction, false is nil, and a table ends at its first nil. */
  private replyAt(place: Place): Reply {
    const { lua } = this
    if (lua.isTable(place)) {
      const error = lua.field(place, 'err')
      if (typeof error === 'string') throw new ReplyError(error)
      const status = lua.field(place, 'ok')
      return typeof status === 'string' ? new Status(status) : lua.elements(place, this.elementAt)
    }
    const value = lua.scalar(place)
    if (typeof value === 'number') return Math.abs(value) < TOO_LARGE ? Math.trunc(value) + 0 : -TOO_LARGE
    if (typeof value === 'string') return value
    return value === true ? 1 : null
  }

  private readonly elementAt = (place: Place): Reply => this.replyAt(place)
}

function sha1(bytes: string): string {
  return createHash('sha1').update(bytes, 'latin1').digest('hex')
}

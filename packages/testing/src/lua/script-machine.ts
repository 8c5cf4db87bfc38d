import { createHash } from 'node:crypto'
import { doubleText } from '../data/numbers'
import { type Reply, ReplyError, Status } from '../data/reply'
import { LuaState } from './lua-state'
import { PRELUDE } from './prelude'
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

/** Runs scripts as Redis 7 does: with Lua 5.1, the same conversions of replies, and the same error messages. */
export class ScriptMachine {
  /** By their sources. */
  private readonly compiled = new Map<string, number>()
  private readonly errorHandler: number
  private runCommand: RunCommand = () => null

  constructor(private readonly lua: LuaState) {
    if (!lua.compile(PRELUDE, '=redis')) throw new Error(String(lua.scalar(-1)))
    lua.pushFunction(() => this.commandOfScript())
    lua.pushFunction(() => lua.pushText(sha1(String(lua.scalar(1)))))
    if (!lua.call(2, 0)) throw new Error(String(lua.scalar(-1)))
    this.errorHandler = lua.keep()
  }

  /** Runs a script to its end; throws ReplyError. All strings are of bytes. */
  run(source: string, keys: readonly string[], args: readonly string[], runCommand: RunCommand): Reply {
    const { lua } = this
    const script = this.compiled.get(source) ?? this.compile(source)
    this.runCommand = runCommand
    try {
      lua.setGlobalList('KEYS', keys)
      lua.setGlobalList('ARGV', args)
      lua.pushKept(this.errorHandler)
      lua.pushKept(script)
      if (!lua.call(0, 1)) throw this.errorOnTop(sha1(source))
      return this.replyOnTop()
    } finally {
      lua.top = 0
    }
  }

  private compile(source: string): number {
    const { lua } = this
    if (!lua.compile(source, '@user_script')) {
      const message = String(lua.scalar(-1))
      lua.top = 0
      throw new ReplyError(`ERR Error compiling script (new function): ${message}`)
    }
    const script = lua.keep()
    this.compiled.set(source, script)
    return script
  }

  /** `redis.call` and `redis.pcall`: takes the arguments from the stack, and pushes the reply. */
  private commandOfScript() {
    const { lua } = this
    const words: string[] = []
    const { top } = lua
    for (let at = 1; at <= top; at++) {
      const word = lua.scalar(at)
      if (typeof word === 'number') words.push(doubleText(word))
      else if (typeof word === 'string') words.push(word)
      else return lua.pushError('ERR Lua redis lib command arguments must be strings or integers')
    }
    const [name, ...args] = words
    if (name === undefined)
      return lua.pushError('ERR Please specify at least one argument for this redis lib call')
    try {
      lua.pushReply(this.runCommand(name.toLowerCase(), args))
    } catch (error) {
      if (!(error instanceof ReplyError)) throw error
      lua.pushError(error.message)
    }
  }

  private errorOnTop(sha: string): ReplyError {
    const { lua } = this
    if (!lua.isTable(-1)) return new ReplyError(`ERR ${String(lua.scalar(-1))}`)
    const line = lua.field('line')
    const where = line === undefined ? '' : ` script: ${sha}, on @user_script:${line}.`
    return new ReplyError(`${lua.field('err') ?? 'ERR unknown error'}${where}`)
  }

  /** Reads a value as Redis does: numbers lose their fraction, false is nil, and a table ends at its first nil. */
  private replyOnTop(): Reply {
    const { lua } = this
    if (lua.isTable(-1)) {
      const error = lua.field('err')
      if (typeof error === 'string') throw new ReplyError(error)
      const status = lua.field('ok')
      return typeof status === 'string' ? new Status(status) : lua.elements(() => this.replyOnTop())
    }
    const value = lua.scalar(-1)
    if (typeof value === 'number') return Math.abs(value) < TOO_LARGE ? Math.trunc(value) + 0 : -TOO_LARGE
    if (typeof value === 'string') return value
    return value === true ? 1 : null
  }
}

function sha1(bytes: string): string {
  return createHash('sha1').update(bytes, 'latin1').digest('hex')
}

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { resolveOptions } from '../../../src/api/options'
import * as exported from '../../../src/index'
import { CLUSTER, SERVER } from '../../../src/redis/target/allowed-options'
import { textOf } from '../../kit/docs/pages'

const ROOT = join(__dirname, '../../..')
const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(join(ROOT, 'src', file), 'utf8'))

/** What the pattern finds in the sources, each once. */
const inSources = (pattern: RegExp) => [
  ...new Set(sources.flatMap((source) => [...source.matchAll(pattern)].map(([, found]) => found!))),
]

/** Those that the page does not have in code style. */
function missingIn(page: string, names: readonly string[]): string[] {
  const text = textOf(page)
  return names.filter((name) => !text.includes(`\`${name}\``))
}

describe('The pages of reference', () => {
  it('The pages of reference name every error, by class and by code', () => {
    const codes = inSources(/override readonly code(?:: string)? = '(\w+)'/g)
    expect(codes).to.include.members(['LOCK_LOST', 'REDIS_UNAVAILABLE'])
    const classes = Object.keys(exported).filter((name) => name.endsWith('Error'))
    expect(missingIn('docs/reference/errors.md', [...codes, ...classes])).to.deep.equal([])
  })

  it('The pages of reference name every process warning', () => {
    const warnings = inSources(/\b(RLOCK_[A-Z_]+)\b/g)
    expect(warnings).to.include('RLOCK_SELF_WAIT')
    expect(missingIn('docs/reference/errors.md', warnings)).to.deep.equal([])
  })

  it('The pages of reference name every event', () => {
    const [, events = ''] = /interface RedissonEvents \{([\s\S]*?)^\}/m.exec(sources.join('\n')) ?? []
    const names = [...events.matchAll(/^ {2}(\w+): \(/gm)].map(([, name]) => name!)
    expect(names).to.include('lockLost')
    expect(missingIn('docs/reference/events.md', names)).to.deep.equal([])
  })

  it('The pages of reference name every option, and each of ioredis that is taken or not', () => {
    const own = Object.keys(resolveOptions({ redis: 'redis://h' })).filter((name) => name !== 'mapName')
    expect(own).to.include('lockWatchdogTimeout')
    const places = [SERVER, CLUSTER].flatMap(({ taken, ignored }) => [...taken, ...ignored])
    const all = [...own, 'nameMapper', ...places]
    expect(missingIn('docs/reference/options.md', all)).to.deep.equal([])
  })

  it('The pages of reference name every method of a client, of a lock and of a hold', () => {
    const page = textOf('docs/reference/api.md')
    const declared = (type: string) => {
      const [, body = ''] = new RegExp(`^export interface ${type}\\b[^{]*\\{([\\s\\S]*?)^\\}`, 'm').exec(
        sources.join('\n'),
      ) ?? ['', '']
      return [...body.matchAll(/^ {2}(?:readonly )?(\w+)[(<:?]/gm)].map(([, name]) => name!)
    }
    const { prototype } = exported.Redisson
    const ofClient = [prototype, Object.getPrototypeOf(prototype) as object]
      .flatMap((each) => Object.getOwnPropertyNames(each))
      .filter((name) => !/^get(?!Id$)|^constructor$|^toJSON$/.test(name))
    const names = [
      ...ofClient,
      ...['LockCalls', 'RLock', 'LockHold', 'RFencedLock', 'RCountDownLatch'].flatMap(declared),
    ]
    expect(names).to.include.members(['run', 'forceUnlock', 'isHeld', 'getToken', 'countDown'])
    expect([...new Set(names)].filter((name) => !new RegExp(`\`${name}\\b`).test(page))).to.deep.equal([])
  })

  it('The page of the API names every getter of a client', () => {
    const getters = Object.getOwnPropertyNames(exported.Redisson.prototype).filter((name) =>
      /^get(?!Id$)/.test(name),
    )
    expect(getters).to.include('getReadWriteLock')
    const text = textOf('docs/reference/api.md')
    expect(getters.filter((name) => !text.includes(`\`${name}(`))).to.deep.equal([])
  })
})

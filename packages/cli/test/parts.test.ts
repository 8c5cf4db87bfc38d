import { spawnSync } from 'node:child_process'
import { expect } from 'chai'
import { openRedis } from '../../../test/kit/clients'
import { Random } from '../../../test/kit/random'
import { freshServer } from '../../../test/kit/servers/index'
import { escapeGlob, glob } from '../src/glob'
import { type Caller, cyclesOf } from '../src/graph'
import type { ProcessAnswer } from '../src/processes'
import { shellWord, unlockCommand } from '../src/shell'
import { Screen } from '../src/terminal'

describe('The patterns of the command rlock', function () {
  this.timeout(60_000)

  it('Patterns of the command rlock match what the server matches, also odd ones', async () => {
    const server = await freshServer()
    const redis = await openRedis(server.url)
    const random = new Random(45)
    const some = (letters: string, most: number) =>
      Array.from({ length: random.between(1, most) }, () => random.pick([...letters])).join('')
    const names = [...new Set(Array.from({ length: 200 }, () => some('ab]-^z\\é*', 6)))]
    await redis.mset(names.flatMap((name) => [name, '1']))
    const patterns = Array.from({ length: 2_000 }, () => some('ab][[*?-^z\\', 7))
    for (const pattern of ['order]1', '[z-a]*', '[', '[]', '[^', '\\', '*[a-', ...patterns]) {
      const expected = (await redis.keys(pattern)).sort()
      expect(names.filter(glob(pattern)).sort(), pattern).to.deep.equal(expected)
    }
    for (const name of names) expect(names.filter(glob(escapeGlob(name)))).to.deep.equal([name])
  })

  it('A pattern with many stars costs a long name no more than their product', () => {
    const began = performance.now()
    const name = 'order:'.repeat(10_000)
    expect(glob('*order:*order:*stock')(name)).to.equal(false)
    expect(glob(`${'*order:'.repeat(50)}*stock`)(name)).to.equal(false)
    expect(performance.now() - began).to.be.below(30_000)
  })
})

describe('What the command rlock says to copy into a shell', () => {
  const NAMES = [
    'order:42',
    'a b',
    "it's",
    '$(touch x)',
    '`id`',
    '!!',
    '~root',
    '*',
    '-rf',
    '--yes',
    '#1',
    'a;b|c&d',
    '\\',
    '"',
    '{a}',
  ]

  it('A name comes out of a shell as it was', () => {
    for (const name of NAMES) {
      const { stdout } = spawnSync('sh', ['-c', `printf %s ${shellWord(name)}`], { encoding: 'utf8' })
      if (!name.startsWith('-')) expect(stdout).to.equal(name)
      const rlock = 'rlock() { shift; for word; do printf "%s\\n" "$word"; done; };'
      const { stdout: words } = spawnSync('sh', ['-c', `${rlock} ${unlockCommand(name, false)}`], {
        encoding: 'utf8',
      })
      expect(words.split('\n').slice(0, -1)).to.deep.equal(name.startsWith('-') ? ['--', name] : [name])
    }
  })

  it('A name that a terminal does not show as it is, is not to be copied', () => {
    for (const name of ['', 'a\u001b[2J', 'a\nb', '\u202ea', 'x'.repeat(1_000)]) {
      expect(shellWord(name)).to.equal(undefined)
      expect(unlockCommand(name, false)).to.match(/^rlock unlock NAME, with/)
    }
    expect(unlockCommand('a', true)).to.equal('rlock unlock --kind token a')
  })
})

const ESCAPE = '\u001b['

describe('The terminal of the command rlock', () => {
  const written = (isTTY: boolean, env: Record<string, string>) => {
    let text = ''
    const output = {
      isTTY,
      write(part: string) {
        text += part
      },
    }
    const screen = new Screen(output, env)
    screen.line(screen.style('red', 'no-expiry'))
    return text
  }

  it('rlock has colours on a terminal only, none with NO_COLOR or on a dumb terminal', () => {
    expect(written(true, {})).to.contain(ESCAPE)
    expect(written(false, {})).to.equal('no-expiry\n')
    expect(written(true, { NO_COLOR: '1' })).to.equal('no-expiry\n')
    expect(written(true, { TERM: 'dumb' })).to.equal('no-expiry\n')
  })
})

const process: ProcessAnswer = {
  ...{ client: 'c', label: 'c', host: 'h', pid: 1, holds: [], waits: [], cut: false },
}
/** A caller that holds these keys and waits for another. */
const caller = (waits: string, ...held: string[]): Caller => ({
  process,
  wait: { key: waits, name: waits, waitingFor: 0, place: 1 },
  holds: held.map((key) => ({ key, name: key, kind: 'lock', owner: `c:${key}`, heldFor: 0 })),
})

describe('The deadlocks that the command rlock finds', () => {
  it('A cycle is found behind a chain, in a crowd, among readers, and of one caller with itself', () => {
    const [a, b, c] = [caller('b', 'a'), caller('c', 'b'), caller('a', 'c')]
    expect(cyclesOf([caller('a', 'x'), caller('x', 'y'), a, b, c])).to.deep.equal([[a, b, c]])
    expect(cyclesOf([a, b])).to.deep.equal([])
    const self = caller('a', 'a')
    expect(cyclesOf([self])).to.deep.equal([[self]])
    // Two readers hold r. One of them waits for what nothing blocks, the other for a caller that waits for r.
    const [idle, reader, writer] = [caller('free', 'r'), caller('w', 'r'), caller('r', 'w')]
    for (const order of [
      [idle, reader, writer],
      [writer, idle, reader],
      [writer, reader, idle],
    ]) {
      const [cycle, ...others] = cyclesOf(order)
      expect(others).to.deep.equal([])
      expect(cycle).to.have.members([reader, writer])
    }
  })

  it('Two cycles behind one caller are both found', () => {
    const [one, two] = [
      [caller('q', 'p'), caller('p', 'q')],
      [caller('t', 's'), caller('s', 't')],
    ]
    expect(cyclesOf([caller('k', 'x'), caller('p', 'k'), caller('s', 'k'), ...one, ...two])).to.have.lengthOf(
      2,
    )
  })

  it('A chain of 100,000 waits, and 12,000 readers before 12,000 writers, cost little', () => {
    const began = performance.now()
    const chain = Array.from({ length: 100_000 }, (_, at) => caller(`k${at + 1}`, `k${at}`))
    expect(cyclesOf(chain)).to.deep.equal([])
    const ring = [...chain, caller('k0', 'k100000')]
    expect(cyclesOf(ring)[0]).to.have.lengthOf(100_001)
    const readers = Array.from({ length: 12_000 }, (_, at) => caller('w', 'r', `own${at}`))
    const writers = Array.from({ length: 12_000 }, (_, at) => caller('r', `other${at}`))
    expect(cyclesOf([...readers, ...writers])).to.deep.equal([])
    expect(performance.now() - began).to.be.below(30_000)
  })
})

import { spawnSync } from 'node:child_process'
import { expect } from 'chai'
import { shellWord, unlockCommand } from '../src/shell'

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

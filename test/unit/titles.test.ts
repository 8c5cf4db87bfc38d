import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { expect } from 'chai'

const LONGEST = 90

/** A title as it stands in the source; a value that a template puts in counts as one character. */
function titlesOf(source: string): string[] {
  const calls = source.matchAll(/\b(?:it|describe)(?:\.\w+)?\(\s*(?:'([^'\n]*)'|"([^"\n]*)"|`)/g)
  return [...calls].map((call) => call[1] ?? call[2] ?? templateAt(source, call.index + call[0].length))
}

function templateAt(source: string, start: number): string {
  let text = ''
  for (let at = start; source[at] !== '`'; at++) {
    text += source[at] === '$' && source[at + 1] === '{' ? '…' : source[at]
    if (source[at] !== '$' || source[at + 1] !== '{') continue
    let depth = 0
    do {
      at++
      if (source[at] === '{') depth++
      if (source[at] === '}') depth--
    } while (depth > 0)
  }
  return text
}

describe('the titles of tests', () => {
  it('A title has at most 90 characters', () => {
    const files = execFileSync('git', ['ls-files', '*.ts'], { encoding: 'utf8' }).split('\n')
    const titles = files
      .filter((file) => /(^|\/)(test|compat)\//.test(file) && existsSync(file))
      .flatMap((file) => titlesOf(readFileSync(file, 'utf8')))
    expect(titles.length).to.be.above(1_500)
    expect(titles.filter((title) => title.length > LONGEST)).to.deep.equal([])
  })
})

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { MUTANTS } from '../../mutants'
import { mutated } from '../../mutants/mutant'
import { scenes } from '../../scenes'

const ROOT = join(__dirname, '../../../..')

describe('The mutants of the simulator', () => {
  it('Each finds its text exactly once in the sources as they stand', () => {
    expect(MUTANTS.length).to.be.at.least(40)
    for (const mutant of MUTANTS) mutated(mutant, readFileSync(join(ROOT, mutant.file), 'utf8'))
  })

  it('One whose text is gone, or stands twice, is refused', () => {
    const [mutant] = MUTANTS
    expect(() => mutated(mutant!, '')).to.throw(/finds its text 0 times/)
    expect(() => mutated(mutant!, mutant!.find.repeat(2))).to.throw(/finds its text 2 times/)
  })

  it('Each names a row of the failure modes or a guarantee, and scenes that exist', () => {
    const rows = readFileSync(join(ROOT, 'docs/internals/failure-modes.md'), 'utf8')
    const names = scenes.map(({ name }) => name)
    for (const { name, row, scenes: own } of MUTANTS) {
      const isNamed =
        row.startsWith('guarantee ') || rows.includes(`| ${row} |`) || rows.includes(`\n- ${row}: `)
      expect(isNamed, `${name}: ${row}`).to.equal(true)
      expect(names, name).to.include.members([...own])
    }
    expect(new Set(MUTANTS.map(({ name }) => name)).size).to.equal(MUTANTS.length)
  })
})

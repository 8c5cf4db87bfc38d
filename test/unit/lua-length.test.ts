import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'

const LUA = join(__dirname, '../../lua')

describe('The Lua scripts', () => {
  it('A Lua script has 300 lines at most, as the other files, which lint checks', () => {
    const files = readdirSync(LUA, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.lua'),
    )
    expect(files.length).to.be.greaterThan(10)
    const long = files.filter((file) => readFileSync(join(LUA, file), 'utf8').split('\n').length > 300)
    expect(long).to.deep.equal([])
  })
})

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'

const FOLDERS = ['../../lua', '../../packages/recipes/lua'].map((folder) => join(__dirname, folder))

describe('The Lua scripts', () => {
  it('A Lua script has 300 lines at most, as the other files, which lint checks', () => {
    const files = FOLDERS.flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.lua'))
        .map((file) => join(folder, file)),
    )
    expect(files.length).to.be.greaterThan(10)
    const long = files.filter((file) => readFileSync(file, 'utf8').split('\n').length > 300)
    expect(long).to.deep.equal([])
  })
})

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect } from 'chai'
import { repository } from './installed-package'

describe('The public types', function () {
  this.timeout(120_000)

  it('The public types are those of the committed report, etc/rlock.api.md', () => {
    const program = join(repository, 'scripts/api-report.mjs')
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, '--check'], { encoding: 'utf8' })
    expect(status, stdout + stderr).to.equal(0)
  })
})

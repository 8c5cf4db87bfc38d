import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'

const SCRIPT = join(__dirname, '../../scripts/commit-subjects.mjs')

describe('The subjects of commits', () => {
  let folder = ''
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'commit-subjects-')))
    mkdirSync(join(folder, 'scripts'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.example', ...args], {
      cwd: folder,
      stdio: 'ignore',
    })
  const commit = (subject: string) => git('commit', '--allow-empty', '-m', subject)
  const check = () => {
    const { status, stderr } = spawnSync(process.execPath, [join(folder, 'scripts/commit-subjects.mjs')], {
      cwd: folder,
      encoding: 'utf8',
    })
    return { status, stderr }
  }

  it('Subjects are checked from the commit on that adds the check', () => {
    copyFileSync(SCRIPT, join(folder, 'scripts/commit-subjects.mjs'))
    expect(check(), 'no repository').to.deep.equal({ status: 0, stderr: '' })
    git('init')
    commit(`${'an old subject '.repeat(9)}.`)
    git('add', '.')
    commit('Check the subjects of commits')
    commit('x'.repeat(72).replace('x', 'X'))
    expect(check()).to.deep.equal({ status: 0, stderr: '' })
    for (const subject of [`X${'x'.repeat(72)}`, 'Release permits by id.']) commit(subject)
    const { status, stderr } = check()
    expect(status).to.equal(1)
    expect(stderr).to.contain('73 characters').and.to.contain('full stop')
    expect(stderr).to.not.contain('an old subject')
  })
})

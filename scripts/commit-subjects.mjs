// Refuses commits whose subject is longer than 72 characters or ends with a full stop. It looks at the commits that came after this
// file: node scripts/commit-subjects.mjs
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const LONGEST = 72

/** What git prints, or undefined where there is no repository. */
function git(...args) {
  const { status, stdout } = spawnSync('git', args, { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}

function faultOf(subject) {
  if (subject.length > LONGEST) return `${subject.length} characters`
  return subject.endsWith('.') ? 'ends with a full stop' : undefined
}

// Undefined in a tarball and in a clone without history: there is nothing to look at.
const added = git('log', '--diff-filter=A', '--format=%H', '--', fileURLToPath(import.meta.url))
  ?.split('\n')
  .at(-1)
const commits = added ? git('log', '--no-merges', '--format=%h %s', `${added}..HEAD`) : undefined
const faults = (commits ? commits.split('\n') : []).flatMap((line) => {
  const at = line.indexOf(' ')
  const fault = faultOf(line.slice(at + 1))
  return fault === undefined ? [] : [`${line} (${fault})`]
})
if (faults.length > 0) {
  console.error(`A subject has ${LONGEST} characters at most and no full stop; the reason is in the body:`)
  console.error(faults.join('\n'))
  process.exitCode = 1
}

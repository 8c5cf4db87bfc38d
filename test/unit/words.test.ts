import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'

// The vocabulary of docs/reference/glossary.md: these words are refused in identifiers, comments, messages, titles and pages. An
// identifier is read as its words, so that `handOver`, `hand-over` and HAND_OVER are "hand over".

const ROOT = join(__dirname, '../..')

/** Records of past runs, third parties, generated code; and what has to quote the words. */
const NO_PROSE_OF_OURS = [
  'bench/results/',
  'docs/evidence/charts/',
  'docs/failure-modes.md', // quotes the reports of others
  'src/scripts/lua.generated.ts',
  'test/unit/words.test.ts',
]

const PACKAGE = ['src/', 'lua/', 'scripts/', 'docs/', 'README.md', 'CONTRIBUTING.md']

interface Refusal {
  readonly word: RegExp
  readonly instead: string
  /** What a finding may be part of, or stand beside in its line; with the reason. */
  readonly unless?: readonly (readonly [what: RegExp, reason: string])[]
  /** Where it is refused; everywhere if absent. */
  readonly within?: readonly string[]
}

const REFUSED: readonly Refusal[] = [
  {
    word: /\bturns?\b/,
    instead: 'cohort, or event loop tick',
    within: [...PACKAGE, 'bench/capacity/', 'test/waiting/'],
    unless: [
      [
        /\b(its|their|whose|last|no|a) turns?\b|\bin turns?\b|\btakes? turns\b|\ba turn\b.*\bcaller|\bturns? of (a|the) (perfect queue|event loop)/,
        'ordinary meaning',
      ],
      [
        /\b(one|same|the|a|a long|longest|that) turn\b|\bturns? (of \d+ ms|the server)|\bno turn took/,
        'of the event loop',
      ],
      [/\btheir turns?\b|\d+ turns\b|\beach turn \d+ ms\b/, 'of a caller: one critical section'],
    ],
  },
  { word: /\bstay(s|ed|ing)? back\b/, instead: 'yield' },
  {
    word: /\b(hand(s|ed|ing)? ?overs?|hands? it over)\b/,
    instead: 'handoff, hand off',
  },
  {
    word: /\bslots?\b/,
    instead: 'entry of a hold table',
    within: ['src/ownership/', 'src/reentrant/', 'src/waiting/', 'src/util/', 'src/locks/'],
  },
  {
    word: /\bread clocks?\b|\bclock key\b|\bclocks? of (a|the) (level|read)|\bclock parts\b/,
    instead: 'read timeout key',
  },
  {
    word: /\bclocks?\b/,
    instead: 'read timeout key',
    within: ['lua/'],
    unless: [[/server's clock|^-- clock in ms/, 'time']],
  },
  {
    word: /\b(giv(e|es|en|ing)|gave)( (it|them|that|all))? back\b/,
    instead: 'orphan release, release',
    unless: [[/\b(port|ticket)s?\b/, 'ports and tickets are no locks']],
  },
  { word: /\bdoubts?\b/, instead: 'pending, uncertain', within: ['src/', 'lua/', 'test/', 'docs/'] },
  { word: /\bstages?\b/, instead: 'due queue', within: ['src/', 'lua/'] },
  { word: /\brenewal slices?\b/, instead: 'renewal batch' },
  { word: /\blease keepers?\b/, instead: 'lease monitor' },
  { word: /(?<!false )\balarms?\b/, instead: 'rearmable timer' },
  { word: /\bwaiting rooms?\b/, instead: 'wait queues' },
  { word: /\bquick commands?\b/, instead: 'raw command, fast path' },
  {
    word: /\bwrit(e|es|ing) together\b/,
    instead: 'write coalescing',
    within: ['src/', 'lua/', 'test/', 'docs/'],
  },
  {
    word: /\backnowledged (acquisitions?|senders?|connections?|hand ?offs?|locks?)\b/,
    instead: 'replica-acknowledged',
    unless: [[/replica acknowledged/, 'says by whom']],
  },
  {
    word: /\bpassing (errors?|failures?|replies|trouble)\b/,
    instead: 'transient',
  },
  { word: /\bambiguous\b/, instead: 'lost (reply)' },
  { word: /\bheld beside\b|\bbeside hold\b|\bfailed beside\b/, instead: 'companion hold' },
  {
    word: /\btold\b/,
    instead: 'notified, reported',
    unless: [[/\btold (to|otherwise|that)\b|\bwhen told\b/, 'ordered']],
  },
  { word: /\bfirst contact\b/, instead: 'connect' },
  { word: /\breopenings?\b/, instead: 'reconnect' },
  { word: /\bcut if silent\b/, instead: 'health check' },
  { word: /(?<!data )\bflows?\b/, instead: 'concurrent caller' },
  {
    word: /\bwhoever\b|\bnobody\b/,
    instead: 'the client, the waiter, the caller, no process',
    within: ['src/', 'lua/', 'scripts/', 'docs/', 'test/', 'bench/', 'compat/', 'demo/', 'README.md'],
  },
  {
    word: /\bthose who\b|\b(he|him|his|himself)\b/,
    instead: 'the client, the waiter, the caller, no process',
    within: ['src/', 'lua/'],
  },
]

/** Words that the contract lists and that are not refused here. */
const LEFT_OUT = {
  acquisition: 'needs a reader to see whether it says which: request, operation or hold',
  beside: 'an ordinary preposition ("Node beside Java"); refused where it names a hold',
  gate: 'allowed for a wait queue, and the TCP proxy of the tests has gates',
  limit: 'an ordinary word; the no-op baseline of the bench is still called so in its results',
  message: 'an ordinary word for what pub/sub carries',
  section: 'short for critical section in bench, demo, compat and soak',
}

const TEXT = /\.(ts|mjs|lua|md|java)$/

function filesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return ['node_modules', 'target'].includes(entry.name) ? [] : filesIn(path)
    return TEXT.test(path) ? [path] : []
  })
}

const startsWithAny = (path: string, starts: readonly string[]) =>
  starts.some((start) => path.startsWith(start))

/** `handOver` and `HAND_OVER` as "hand over". */
function inWords(line: string): string {
  return line
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/[-_]/g, ' ')
    .toLowerCase()
}

function findingsIn(path: string, text: string): string[] {
  const rules = REFUSED.filter(({ within }) => !within || startsWithAny(path, within))
  const lines = [path, ...text.split('\n')]
  return lines.flatMap((line, number) => {
    // Comment markers stay, so that a rule can speak of the beginning of a comment.
    const words = line.startsWith('--') ? `-- ${inWords(line.slice(2)).trimStart()}` : inWords(line)
    return rules
      .filter(({ word, unless = [] }) => word.test(words) && !unless.some(([what]) => what.test(words)))
      .map(({ word, instead }) => `${path}:${number}: ${word.exec(words)![0]} → ${instead}: ${line.trim()}`)
  })
}

const folders = ['src', 'lua', 'scripts', 'docs', 'test', 'bench', 'compat', 'demo']
const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md']

describe('The vocabulary', () => {
  it('The words that docs/reference/glossary.md replaces are used nowhere', () => {
    const files = [...folders.flatMap(filesIn), ...pages].filter(
      (path) => !startsWithAny(path, NO_PROSE_OF_OURS),
    )
    expect(files.length).to.be.greaterThan(400)
    const found = files.flatMap((path) => findingsIn(path, readFileSync(join(ROOT, path), 'utf8')))
    expect(found.join('\n')).to.equal('')
  })

  it('A refused word is found in an identifier, a comment, a path and a page, and not in another word', () => {
    const path = 'src/x.ts'
    for (const text of [
      'this.handOver()',
      '// hand-over',
      'const HAND_OVERS = 1',
      '/** It stays back. */',
      "'told'",
    ])
      expect(findingsIn(path, text), text).to.have.length(1)
    expect(findingsIn('docs/quick-commands.md', '')).to.have.length(1)
    expect(findingsIn('src/ownership/x.ts', 'private slots = 0')).to.have.length(1)
    for (const text of ['return overflow', 'returns', 'unless told otherwise', 'cluster.slots', 'handler'])
      expect(findingsIn(path, text), text).to.deep.equal([])
  })

  it('A word of the contract that is left out here has its reason', () => {
    for (const [word, reason] of Object.entries(LEFT_OUT)) expect(reason, word).to.not.equal('')
  })
})

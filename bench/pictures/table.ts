import { asTable } from '../../packages/cli/src/commands/ls'
import { type Kind, newHolder, type Row } from '../../packages/cli/src/model'
import { Screen } from '../../packages/cli/src/terminal'
import { Canvas } from './canvas'
import type { Picture } from './pictures'

const LETTER = 7.3
const LINE = 20
const LEFT = 16

interface Shown {
  readonly name: string
  readonly kind: Kind
  readonly mode?: 'read'
  /** Owner, TTL, host, process, and since when it holds; the last two only where the process answers. */
  readonly holders: readonly (readonly [
    owner: string,
    ttl: number,
    host: string | null,
    process?: string,
    heldFor?: number,
  ])[]
  readonly waiting?: Row['waiting']
}

const WEB = '0b6d2a3e-5c1f-8222-9333-94a1c07e44d2'
const JAVA = '7c90be1d-2f3a-4e55-8a01-6d1f3b9e2c77'
const JOBS = 'e41c7a92-9d04-8b6e-a2f5-18c3d5b7f060'

const SHOWN: readonly Shown[] = [
  {
    name: 'invoices',
    kind: 'lock',
    holders: [[`${JAVA}:61`, 24_310, null]],
    waiting: { processes: 1, callers: 1, queue: null },
  },
  {
    name: 'order:42',
    kind: 'lock',
    holders: [[`${WEB}:7`, 28_731, '10.0.0.7', 'web-1:4711', 1_269]],
    waiting: { processes: 2, callers: 5, queue: null },
  },
  {
    name: 'report',
    kind: 'fair',
    holders: [[`${JOBS}:3`, 21_040, '10.0.0.9', 'jobs-2:88', 743_000]],
    waiting: { processes: 3, callers: 2, queue: 3 },
  },
  {
    name: 'stock',
    kind: 'read-write',
    mode: 'read',
    holders: [
      [`${WEB}:12`, 29_870, '10.0.0.7', 'web-1:4711', 130],
      [`${JAVA}:48`, 26_200, null],
    ],
  },
]

const rows = SHOWN.map(
  ({ name, kind, mode = null, holders, waiting = { processes: 0, callers: 0, queue: null } }): Row => ({
    name,
    kind,
    mode,
    ttl: holders[0]![1],
    holders: holders.map(([owner, ttl, host, process = null, heldFor = null]) => ({
      ...newHolder(owner, 1, ttl),
      host,
      process,
      label: process,
      heldFor,
    })),
    waiting,
    moreHolders: 0,
    value: null,
  }),
)

/** What `rlock ls --watch` shows, drawn from the table that the command itself makes. */
export const lsPicture: Picture = {
  name: 'rlock-ls',
  title:
    'The table of rlock ls --watch: four locks with their owners, counts, TTLs, since when they are held, hosts, processes, and how many callers and processes wait. Two owners are of a Java service.',
  draw(theme) {
    const [head = '', ...lines] = asTable(rows, new Screen(undefined, { NO_COLOR: '1' })).split('\n')
    const starts = [...head.matchAll(/\S+/g)].map(({ index }) => index)
    const width = 2 * LEFT + Math.max(...[head, ...lines].map(({ length }) => length)) * LETTER
    const canvas = new Canvas(theme, Math.ceil(width), 62 + LINE * (lines.length + 1))
    canvas.text(LEFT, 28, '$ npx @rlock/cli ls --watch', { size: 12, bold: true, colour: 'green' })
    for (const [at, line] of [head, ...lines].entries()) {
      const y = 60 + at * LINE
      for (const [column, start] of starts.entries()) {
        const cell = line.slice(start, starts[column + 1]).trim()
        if (cell !== '') canvas.text(Math.round(LEFT + start * LETTER), y, cell, { size: 12, bold: at === 0 })
      }
    }
    return canvas.line(LEFT, 66, Math.round(width) - LEFT, 66)
  },
}

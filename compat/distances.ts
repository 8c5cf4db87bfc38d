// Measures what docs/evidence/cohorts.md says of processes at different distances: npx tsx compat/distances.ts
//
// Two processes before one plain lock, one caller each, which asks again at once: of its fair share of the sections, what
// the second gets where each message takes it longer than the first.
import { Distances, meet, type Party } from './support/distances'
import type { Side } from './support/lock-peer'

const DURATION_MS = 3_000
const SIDES: readonly (readonly [near: Side, far: Side])[] = [
  ['Node', 'Node'],
  ['Node', 'Java'],
  ['Java', 'Node'],
  ['Java', 'Java'],
]

interface Column {
  readonly sectionMs: number
  readonly farMs: number
}

const NEARBY: readonly Column[] = [5, 20].flatMap((sectionMs) =>
  [0, 1, 5].map((farMs) => ({ sectionMs, farMs })),
)
const FAR_OFF: readonly Column[] = [10, 20, 40].map((farMs) => ({ sectionMs: 5, farMs }))

async function shares(near: Party, far: Party, columns: readonly Column[]): Promise<string[]> {
  const found: string[] = []
  for (const { sectionMs, farMs } of columns) {
    const order = {
      type: 'lock',
      durationMs: DURATION_MS,
      sectionMs,
      callers: 1,
      distances: [0, farMs],
    } as const
    const [ofNear, ofFar] = (await meet([near, far], order)) as [number, number]
    found.push(((2 * ofFar) / (ofNear + ofFar)).toFixed(2))
  }
  return found
}

function print(cells: readonly string[]) {
  console.log(`| ${cells.join(' | ')} |`)
}

function printHead(columns: readonly Column[]) {
  print(['near', 'far', ...columns.map(({ sectionMs, farMs }) => `${sectionMs} ms, ${farMs} ms farther`)])
  print(['near', 'far', ...columns].map(() => '---'))
}

async function main() {
  const distances = await Distances.open()
  try {
    const near = { Node: await distances.party('Node'), Java: await distances.party('Java') }
    const far = { Node: await distances.party('Node'), Java: await distances.party('Java') }
    printHead(NEARBY)
    for (const [one, other] of SIDES) print([one, other, ...(await shares(near[one], far[other], NEARBY))])
    console.log()
    printHead(FAR_OFF)
    print(['Node', 'Node', ...(await shares(near.Node, far.Node, FAR_OFF))])
  } finally {
    await distances.close()
  }
}

void main()

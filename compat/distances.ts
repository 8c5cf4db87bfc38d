// Measures what docs/evidence/fairness.md says of processes at different distances: npx tsx compat/distances.ts
//
// Two processes before one plain lock, one caller each, which asks again at once: of its fair share of the sections, what
// the second gets where each message takes it longer than the first. Then two writers of a lock that readers take, too.
import { Distances, type Party, type Readers } from './support/distances'
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

/** Two callers that read for 5 ms, and pause for so long at most. */
const PAUSES: readonly number[] = [200, 50, 10]

async function shares(
  distances: Distances,
  near: Party,
  far: Party,
  columns: readonly Column[],
): Promise<string[]> {
  const found: string[] = []
  for (const { sectionMs, farMs } of columns) {
    const order = {
      type: 'lock',
      durationMs: DURATION_MS,
      sectionMs,
      callers: 1,
      distances: [0, farMs],
    } as const
    found.push(shareOfFar(await distances.meet([near, far], order)))
  }
  return found
}

/** The same of two writers, the far one by 5 ms, of a lock that readers near the server take, too. */
async function amongReaders(distances: Distances, near: Party, far: Party): Promise<string[]> {
  const found: string[] = []
  const readers = PAUSES.map((pauseMs): Readers => ({ callers: 2, sectionMs: 5, pauseMs }))
  for (const each of [undefined, ...readers]) {
    const order = { type: 'write', durationMs: 2 * DURATION_MS, sectionMs: 5, callers: 1 } as const
    found.push(
      shareOfFar(
        await distances.meet([near, far], { ...order, distances: [0, 5], ...(each && { readers: each }) }),
      ),
    )
  }
  return found
}

function shareOfFar(sections: readonly number[]): string {
  const [ofNear, ofFar] = sections as [number, number]
  return ((2 * ofFar) / (ofNear + ofFar)).toFixed(2)
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
    for (const [one, other] of SIDES)
      print([one, other, ...(await shares(distances, near[one], far[other], NEARBY))])
    console.log()
    printHead(FAR_OFF)
    print(['Node', 'Node', ...(await shares(distances, near.Node, far.Node, FAR_OFF))])
    console.log()
    print(['near', 'far', 'no readers', ...PAUSES.map((pause) => `readers that pause up to ${pause} ms`)])
    print(['near', 'far', 'none', ...PAUSES].map(() => '---'))
    for (const side of ['Node', 'Java'] as const)
      print([side, side, ...(await amongReaders(distances, near[side], far[side]))])
  } finally {
    await distances.close()
  }
}

void main()

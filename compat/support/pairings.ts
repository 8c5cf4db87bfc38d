import { expect } from 'chai'
import { type Casting, perform, type Step, type StepRecord } from './call-sequence'
import { PublishedMessages } from './keyspace'
import type { World } from './world'

const JAVA: Casting = { a: 'Java', b: 'Java' }
/** One side holds, the other asks. */
export const MIXED: readonly Casting[] = [
  { a: 'Java', b: 'Node' },
  { a: 'Node', b: 'Java' },
]
export const ALL: readonly Casting[] = [{ a: 'Node', b: 'Node' }, ...MIXED]

/** Does the calls with two Java threads, then in the other pairings: each must leave what the first left. */
export async function expectSameAsJava(
  world: World,
  messages: PublishedMessages,
  lock: string,
  steps: readonly Step[],
  castings: readonly Casting[] = ALL,
): Promise<readonly StepRecord[]> {
  const expected = await perform(world, messages, lock, steps, JAVA)
  assertPlausible(expected)
  for (const casting of castings)
    expect(await perform(world, messages, lock, steps, casting), inWords(casting)).to.deep.equal(expected)
  return expected
}

/** To be called in a `describe`. */
export function listening(world: World): () => PublishedMessages {
  let messages: PublishedMessages
  before(async () => {
    messages = await PublishedMessages.listen(world.server.url)
  })
  after(() => messages?.close())
  return () => messages
}

/** Equal nothings would be equal, too: there must be something to compare. */
function assertPlausible(records: readonly StepRecord[]): void {
  expect(records.some(({ keys }) => keys.some(({ type }) => type === 'hash'))).to.equal(true)
  expect(JSON.stringify(records)).to.contain('<owner>')
  expect(records.at(-1)?.keys).to.deep.equal([])
}

const inWords = ({ a, b }: Casting) => `a is ${a}, b is ${b}`

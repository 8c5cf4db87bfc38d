// What replication keeps of a lock, and what it loses: npm run replicas -- [--rounds N] [--only TEXT]

import { parseArgs } from 'node:util'
import { optionsOrExit } from '../../kit/cli'
import { SCENARIOS } from './scenarios'
import { FAULTS } from './turns/faults'
import { takeTurns } from './turns/turns'
import { NoFailover, type Outcome, SYNC, World } from './world'

const titles = (all: readonly { readonly title: string }[]) =>
  all.map(({ title }) => `                ${title}`).join('\n')

const USAGE = `usage: npm run replicas -- [--turns [--java]] [--rounds N] [--only TEXT]

Fails servers over while a lock is held, and tabulates what the new primary knows of it.
Ends with 0 when no second holder came in where none may.

With --turns it fails servers over while two clients take turns at every kind of object, and tabulates for how long
no caller entered, and whether tokens and counts are right. Ends with 0 when all is as the page of failovers says.

  --rounds N    how often each (5)
  --java        a thread of a Java peer takes turns as well
  --only TEXT   only what has this in its title:
${titles(SCENARIOS)}
                and with --turns:
${titles(FAULTS)}`

interface Options {
  readonly rounds: number
  readonly only: string
  readonly turns: boolean
  readonly java: boolean
}

/** Undefined when help was asked for; throws when the arguments make no sense. */
function parseOptions(): Options | undefined {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '5' },
      only: { type: 'string', default: '' },
      turns: { type: 'boolean', default: false },
      java: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return undefined
  const rounds = Number(values.rounds)
  if (!(Number.isInteger(rounds) && rounds >= 1)) throw new RangeError('--rounds takes a whole number from 1')
  const all: readonly { readonly title: string }[] = values.turns ? FAULTS : SCENARIOS
  if (!all.some(({ title }) => title.includes(values.only)))
    throw new TypeError(`nothing has ${JSON.stringify(values.only)} in its title`)
  return { rounds, only: values.only, turns: values.turns, java: values.java }
}

async function main({ rounds, only, turns, java }: Options) {
  if (turns) process.exit((await takeTurns(rounds, only, java)) ? 0 : 1)
  console.log(`slavesSyncTimeout ${SYNC}; ${rounds} rounds each, times in ms\n`)
  console.log(
    '| what happens | lease | holds kept | acquired after | another got in after | both inside for |',
  )
  console.log('| --- | --- | --- | --- | --- | --- |')
  let violations = 0
  for (const { title, lease, safe, round } of SCENARIOS) {
    if (!title.includes(only)) continue
    const outcomes: Outcome[] = []
    while (outcomes.length < rounds) {
      try {
        outcomes.push(await inItsWorld(new World(lease), round))
      } catch (error) {
        if (!(error instanceof NoFailover)) throw error
        console.error(`once more: ${error.message}`)
      }
    }
    console.log(line(title, lease, outcomes))
    if (safe) violations += outcomes.filter(({ together = 0 }) => together > 0).length
  }
  console.log(`\nboth inside where only one may be: ${violations}`)
  process.exit(violations === 0 ? 0 : 1)
}

async function inItsWorld(world: World, round: (world: World) => Promise<Outcome>): Promise<Outcome> {
  try {
    return await round(world)
  } finally {
    await world.end()
  }
}

function line(title: string, lease: number, outcomes: readonly Outcome[]): string {
  const held = outcomes.filter(({ kept }) => kept !== undefined)
  const kept = held.filter((outcome) => outcome.kept)
  const cells = [
    title,
    lease,
    held.length > 0 ? `${kept.length} of ${held.length}` : '–',
    range(outcomes.map(({ acquired }) => acquired)),
    range(outcomes.map(({ entered }) => entered)),
    range(outcomes.map(({ together }) => together)),
  ]
  return `| ${cells.join(' | ')} |`
}

/** From the least to the greatest; what was not measured does not count. */
function range(numbers: readonly (number | undefined)[]): string {
  const known = numbers.filter((number) => number !== undefined)
  if (known.length === 0) return '–'
  const [least, greatest] = [Math.min(...known), Math.max(...known)].map((number) =>
    number === Number.POSITIVE_INFINITY ? 'as long as it was watched' : String(Math.round(number)),
  )
  return least === greatest ? least! : `${least} to ${greatest}`
}

void main(optionsOrExit(parseOptions, USAGE))

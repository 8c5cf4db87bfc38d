import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { jobsOf } from '../options'
import { type CalibratedMutant, keepMutants } from '../report/results'
import { MUTANTS } from '.'
import { bundle } from './bundle'
import type { Mutant } from './mutant'
import type { Search } from './run-one'

const ROOT = join(__dirname, '../../..')
const execute = promisify(execFile)

const { values } = parseArgs({
  options: {
    mutants: { type: 'boolean' },
    only: { type: 'string' },
    schedules: { type: 'string', default: '100000' },
    seconds: { type: 'string', default: '600' },
    jobs: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
})

async function search(
  file: string,
  mutant: Mutant,
  from: number,
  most: number,
  seconds: number,
): Promise<Search> {
  const args = [
    '--max-old-space-size=2048',
    '--max-semi-space-size=64',
    '--single-threaded-gc',
    file,
    mutant.scenes.join(),
    String(from),
    String(most),
    String(seconds),
  ]
  const { stdout } = await execute(process.execPath, args, { maxBuffer: 2 ** 26 })
  return JSON.parse(stdout.trim().split('\n').at(-1)!) as Search
}

/** Runs schedules until the judge objects to one that the sound package passes. */
async function calibrate(mutant: Mutant, sound: string, broken: string): Promise<CalibratedMutant> {
  const { name } = mutant
  const ends = Date.now() + Number(values.seconds) * 1000
  let schedules = 0
  while (schedules < Number(values.schedules) && Date.now() < ends) {
    const left = Number(values.schedules) - schedules
    const from = 1 + schedules
    const answer = await search(broken, mutant, from, left, (ends - Date.now()) / 1000)
    schedules += answer.schedules
    const { found } = answer
    if (!found) break
    // Each seed has its scene by its place, so the sound run takes the same one.
    const alone = { ...mutant, scenes: [found.scene] }
    const { found: alsoSound } = await search(sound, alone, found.seed, 1, 60)
    if (!alsoSound) return { name, schedules, found }
  }
  return { name, schedules }
}

async function main(): Promise<number> {
  const includes = await import(pathToFileURL(join(ROOT, 'scripts/lua-includes.mjs')).href)
  const sound = await bundle('none', undefined, includes)
  const results: CalibratedMutant[] = []
  const chosen = MUTANTS.filter(({ name }) => !values.only || values.only.split(',').includes(name))
  const left = [...chosen]
  const work = async () => {
    for (let mutant = left.shift(); mutant; mutant = left.shift()) {
      const result = await calibrate(mutant, sound, await bundle(mutant.name, mutant, includes))
      results.push(result)
      if (values.keep) keepMutants([result])
      const { found, schedules } = result
      const outcome = found ? `caught by ${found.rule}, seed ${found.seed} of ${found.scene}` : 'SURVIVED'
      console.log(`${mutant.name.padEnd(28)} ${String(schedules).padStart(7)} schedules, ${outcome}`)
    }
  }
  await Promise.all(Array.from({ length: jobsOf(values.jobs) }, work))
  const survived = results.filter(({ found }) => !found)
  console.log(
    `${results.length} mutants, ${results.length - survived.length} caught, ${survived.length} survived`,
  )
  return survived.length === 0 ? 0 : 1
}

main().then(
  (code) => {
    process.exitCode = code
  },
  (error) => {
    console.error(error)
    process.exitCode = 2
  },
)

import type { CalibratedMutant } from '../report/results'
import { runSchedule } from '../run-schedule'
import { scenes } from '../scenes'
import { findingsOf } from '../totals'

/** What one bundle found: the first schedule with a violation, or none in so many. */
export type Search = Pick<CalibratedMutant, 'schedules' | 'found'>

/** Arguments: names of scenes, the first seed, how many schedules, how many seconds. Prints a Search. */
async function main([names = '', from = '1', most = '1', seconds = '60']: string[]): Promise<void> {
  const own = scenes.filter(({ name }) => names.split(',').includes(name))
  const ends = Date.now() + Number(seconds) * 1000
  let schedules = 0
  let found: Search['found']
  while (!found && schedules < Number(most) && Date.now() < ends) {
    const scene = own[schedules % own.length]!
    const seed = Number(from) + schedules++
    const [first] = findingsOf(await runSchedule(scene, seed))
    if (first) found = { seed, scene: scene.name, rule: first.rule }
  }
  const search: Search = { schedules, ...(found && { found }) }
  console.log(JSON.stringify(search))
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error)
  process.exitCode = 2
})

import { runSchedule } from '../run-schedule'
import { scenes } from '../scenes'
import { findingsOf } from '../totals'

/** What one bundle found: the first schedule with a violation, or none in so many. */
export interface Search {
  readonly schedules: number
  readonly sections: number
  readonly found?: {
    readonly seed: number
    readonly scene: string
    readonly rule: string
    readonly what: string
  }
}

/** Arguments: names of scenes, the first seed, how many schedules, how many seconds. Prints a Search. */
async function main([names = '', from = '1', most = '1', seconds = '60']: string[]): Promise<void> {
  const own = scenes.filter(({ name }) => names.split(',').includes(name))
  const ends = Date.now() + Number(seconds) * 1000
  let [schedules, sections] = [0, 0]
  while (schedules < Number(most) && Date.now() < ends) {
    const scene = own[schedules % own.length]!
    const seed = Number(from) + schedules++
    const outcome = await runSchedule(scene, seed)
    sections += outcome.sections
    const [first] = findingsOf(outcome)
    if (!first) continue
    const search: Search = {
      schedules,
      sections,
      found: { seed, scene: scene.name, rule: first.rule, what: first.what },
    }
    console.log(JSON.stringify(search))
    return
  }
  const search: Search = { schedules, sections }
  console.log(JSON.stringify(search))
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error)
  process.exitCode = 2
})

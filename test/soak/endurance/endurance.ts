// npm run endurance: what a million names, ten thousand waiters and a hundred thousand held locks cost a process.

import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { optionsOrExit } from '../../kit/cli'
import { liveLine } from '../../kit/terminal/live-line'
import { measure } from './measure'
import type { Result } from './messages'
import { type EnduranceOptions, parseOptions, USAGE } from './options'
import { fromPackage } from './programs'
import { BOUNDS, type Row, rowsOf, table } from './verdict'

/** Resolves with whether every bound was kept. */
async function endurance({ orders, json }: EnduranceOptions): Promise<boolean> {
  const root = join(__dirname, '../../..')
  const built = spawnSync(process.execPath, [join(root, 'scripts/build.mjs')], { stdio: 'inherit' })
  if (built.status !== 0) throw new Error('the package could not be built')
  const programs = await fromPackage()
  const line = liveLine()
  const measured: { result: Result; rows: Row[]; serverVersion: string; load: number }[] = []
  for (const order of orders) {
    const load = loadavg()[0]!
    const { result, serverVersion } = await measure(order, programs, line.show).finally(line.clear)
    measured.push({ result, rows: rowsOf(result, BOUNDS), serverVersion, load })
  }
  for (const { rows, serverVersion, load } of measured)
    console.log(`${table(rows)}\nNode ${process.version}, ${serverVersion}, load before ${load.toFixed(2)}\n`)
  const missed = measured.flatMap(({ rows }) => rows.filter(({ kept }) => kept === false))
  for (const { what, figure, bound } of missed) console.log(`Missed: ${what}: ${figure}, wanted ${bound}`)
  if (missed.length === 0) console.log('Every bound was kept.')
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(measured, null, 2)}\n`)
  return missed.length === 0
}

endurance(optionsOrExit(parseOptions, USAGE)).then(
  (kept) => process.exit(kept ? 0 : 1),
  (error: Error) => {
    console.error(`The run failed: ${error.message}`)
    process.exit(1)
  },
)

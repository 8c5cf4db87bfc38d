import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { svgText } from '../../../../packages/cli/src/page/svg-text'
import { THEMES } from '../../../../packages/cli/src/page/themes'
import { drawTimeline } from '../../../../packages/cli/src/page/timeline'
import { timelineOf } from '../evidence/trace'
import type { Violation } from '../evidence/violations'

const MOST_DRAWN = 5

/** Draws the first violations that have a trace, in both themes. Returns the files. */
export function writeDrawings(folder: string, run: string, violations: readonly Violation[]): string[] {
  const drawn = violations.filter(({ trace }) => trace !== undefined).slice(0, MOST_DRAWN)
  if (drawn.length === 0) return []
  mkdirSync(folder, { recursive: true })
  return drawn.flatMap(({ kind, what, trace }, index) =>
    THEMES.map((theme) => {
      const file = join(folder, `${run}-${index + 1}-${kind}-${theme.name}.svg`)
      const { timeline, size } = timelineOf(trace!, `${kind}: ${what}`, theme.bars)
      writeFileSync(file, svgText(drawTimeline(timeline, theme, size)))
      return file
    }),
  )
}

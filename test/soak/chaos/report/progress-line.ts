import { LiveRegion } from '../../../kit/terminal/live-region'
import { micros } from '../evidence/records'
import type { RunOptions, RunProgress } from '../run'

const isLive = process.stdout.isTTY === true && process.env.TERM !== 'dumb'
const PLAIN_EVERY = 15_000
/** The rest are counted. */
const MOST_SHOWN = 50

/** How far a run is: one line that is drawn over in a terminal, a line now and then elsewhere. */
export class ProgressLine {
  private readonly region = new LiveRegion(process.stdout)
  private timer: NodeJS.Timeout | undefined
  private shown = 0

  begin(options: RunOptions, progress: RunProgress): void {
    this.timer = setInterval(() => this.show(options, progress), isLive ? 250 : PLAIN_EVERY)
  }

  end(): void {
    clearInterval(this.timer)
    this.region.close()
  }

  private show({ topology, lastsMs, mutant }: RunOptions, progress: RunProgress) {
    const { judge, planned, injected, begun, present } = progress
    const line = [
      `${topology}${mutant ? `, ${mutant}` : ''}`,
      `${clock((micros() - begun) / 1000)} of ${clock(lastsMs)}`,
      `fault ${injected} of ${planned}: ${present}`,
      `${judge.tally.sections.toLocaleString('en')} sections`,
      `${judge.violations.length} violations`,
    ].join('   ')
    const news = judge.violations
      .slice(this.shown, Math.max(this.shown, MOST_SHOWN))
      .map(({ kind, what, fault }) => `${kind} [${fault}]: ${what}`)
    this.shown = judge.violations.length
    if (!isLive) return console.log([...news, line].join('\n'))
    if (news.length > 0) {
      this.region.draw(news)
      this.region.close()
    }
    this.region.draw([line.slice(0, process.stdout.columns - 1)])
  }
}

const clock = (ms: number): string =>
  `${Math.floor(ms / 60_000)}:${String(Math.floor(ms / 1000) % 60).padStart(2, '0')}`

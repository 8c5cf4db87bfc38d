import type { Tab } from './browser'

/** From now on the browser counts what the page works. */
export const countWork = (tab: Tab) => tab.send('Performance.enable', { timeDomain: 'threadTicks' })

/** What the page works, by the clock of its thread: time in which other programs had the processor does not count. */
export async function workOf(tab: Tab) {
  const { metrics } = (await tab.send('Performance.getMetrics')) as {
    metrics: { name: string; value: number }[]
  }
  const ms = (name: string) => metrics.find((each) => each.name === name)!.value * 1_000
  return {
    script: ms('ScriptDuration'),
    layout: ms('LayoutDuration') + ms('RecalcStyleDuration'),
    all: ms('TaskDuration'),
  }
}

/** What any list costs here: rows of the same height with a text each, and no script of their own. */
export const plainRows = (count: number) =>
  `data:text/html,<!doctype html><style>body{margin:0;font:13px system-ui}div div{height:28px}</style><div id=box style="height:400px;overflow:auto"></div>
  <script>document.getElementById('box').append(...Array.from({length:${count}},(_,at)=>Object.assign(document.createElement('div'),{textContent:'lock:'+at})))</script>`.replaceAll(
    '\n',
    '',
  )

/** Scrolls a box by so much, to its start behind its end: a part of a script that runs in each frame. */
export const scroll = (box: string, pixels: number) =>
  `const box = document.getElementById('${box}'); box.scrollTop += ${pixels}; if (box.scrollTop + box.clientHeight >= box.scrollHeight) box.scrollTop = 0`

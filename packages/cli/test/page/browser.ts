import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { waitUntil } from '../../../../test/kit/servers/index'
import { endWithThisProcess, removeWithThisProcess } from '../../../../test/kit/servers/left-behind'

/** The browser of this machine: Debian's package `chromium`. */
export const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((file) => existsSync(file))

// biome-ignore lint/suspicious/noExplicitAny: answers of the DevTools protocol.
type Reply = any

interface Call {
  resolve(result: Reply): void
  reject(error: Error): void
}

/** A real Chromium that a test moves, by the DevTools protocol over a pipe. */
export class Browser {
  private readonly calls = new Map<number, Call>()
  private readonly listeners = new Set<(method: string, params: Reply, session: string) => void>()
  private rest = ''
  private last = 0

  private constructor(
    private readonly child: ChildProcess,
    private readonly commands: Writable,
    answers: Readable,
  ) {
    answers.setEncoding('utf8').on('data', (part: string) => this.heard(part))
    child.once('exit', () => {
      for (const { reject } of this.calls.values()) reject(new Error('Chromium has ended'))
    })
  }

  static async start(): Promise<Browser> {
    const profile = mkdtempSync(join(tmpdir(), 'rlock-chromium-'))
    removeWithThisProcess(profile)
    const flags = [
      '--headless=new',
      '--no-sandbox',
      '--disable-gpu',
      '--remote-debugging-pipe',
      '--no-first-run',
    ]
    const args = [...flags, '--disable-dev-shm-usage', `--user-data-dir=${profile}`, 'about:blank']
    const child = spawn(CHROMIUM!, args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] })
    endWithThisProcess(child)
    const browser = new Browser(child, child.stdio[3] as Writable, child.stdio[4] as Readable)
    await browser.send('Browser.getVersion')
    return browser
  }

  send(method: string, params: object = {}, sessionId?: string): Promise<Reply> {
    const id = ++this.last
    return new Promise((resolve, reject) => {
      this.calls.set(id, { resolve, reject })
      this.commands.write(`${JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) })}\0`)
    })
  }

  listen(listener: (method: string, params: Reply, session: string) => void): void {
    this.listeners.add(listener)
  }

  async open(url: string, { width = 1100, height = 700, dark = false } = {}): Promise<Tab> {
    const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' })
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true })
    const tab = new Tab(this, sessionId)
    await tab.send('Page.enable')
    await tab.send('Runtime.enable')
    await tab.send('Log.enable')
    await tab.send('Emulation.setDeviceMetricsOverride', {
      width,
      height,
      deviceScaleFactor: 1,
      mobile: false,
    })
    await tab.setDark(dark)
    await tab.send('Page.navigate', { url })
    await waitUntil('the page is loaded', () =>
      tab.run("document.readyState === 'complete' && location.href !== 'about:blank'"),
    )
    return tab
  }

  async close(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    const ended = once(this.child, 'exit')
    this.child.kill('SIGKILL')
    await ended
  }

  private heard(part: string) {
    const messages = (this.rest + part).split('\0')
    this.rest = messages.pop()!
    for (const message of messages) {
      const { id, result, error, method, params, sessionId } = JSON.parse(message)
      if (id === undefined) {
        for (const listener of this.listeners) listener(method, params, sessionId)
        continue
      }
      const call = this.calls.get(id)
      this.calls.delete(id)
      if (error) call?.reject(new Error(error.message))
      else call?.resolve(result)
    }
  }
}

/** One page in the browser. */
export class Tab {
  /** What the page and the browser complained of. */
  readonly complaints: string[] = []

  constructor(
    private readonly browser: Browser,
    private readonly session: string,
  ) {
    browser.listen((method, params, of) => {
      if (of !== session) return
      if (method === 'Runtime.exceptionThrown')
        this.complaints.push(params.exceptionDetails.exception?.description)
      if (method === 'Log.entryAdded' && params.entry.level === 'error')
        this.complaints.push(params.entry.text)
      if (method === 'Page.javascriptDialogOpening') this.complaints.push(`dialog: ${params.message}`)
    })
  }

  send(method: string, params: object = {}): Promise<Reply> {
    return this.browser.send(method, params, this.session)
  }

  /** The value of the expression in the page. */
  async run(expression: string): Promise<Reply> {
    const given = { expression, awaitPromise: true, returnByValue: true }
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', given)
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
    return result.value
  }

  async setDark(dark: boolean): Promise<void> {
    const features = [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }]
    await this.send('Emulation.setEmulatedMedia', { features })
  }

  /** All that a person can read of an element. */
  text(selector = 'body'): Promise<string> {
    return this.run(`document.querySelector(${JSON.stringify(selector)})?.innerText ?? ''`)
  }

  /** Waits until the element has this text. */
  async sees(text: string, selector = 'body'): Promise<void> {
    await waitUntil(`${selector} has the text ${text}`, async () =>
      (await this.text(selector)).includes(text),
    )
  }

  async seesNo(text: string, selector = 'body'): Promise<void> {
    await waitUntil(
      `${selector} has not the text ${text}`,
      async () => !(await this.text(selector)).includes(text),
    )
  }

  /** Clicks in the middle of the first button whose accessible name begins so, as a pointer does. */
  async click(name: string): Promise<void> {
    const [x, y] = await this.run(`(() => {
      const button = [...document.querySelectorAll('button, input, select')].find((each) =>
        each.checkVisibility() && (each.ariaLabel ?? each.labels?.[0]?.innerText ?? each.innerText).startsWith(${JSON.stringify(name)}))
      const { x, y, width, height } = button.getBoundingClientRect()
      return [x + width / 2, y + height / 2]
    })()`)
    for (const type of ['mousePressed', 'mouseReleased'])
      await this.send('Input.dispatchMouseEvent', { type, x, y, button: 'left', clickCount: 1 })
  }

  /** Presses keys by their names: `Tab`, `ArrowDown`, `Enter`. */
  async press(...keys: string[]): Promise<void> {
    for (const key of keys) {
      const code = {
        Tab: 9,
        Enter: 13,
        Escape: 27,
        ArrowLeft: 37,
        ArrowUp: 38,
        ArrowRight: 39,
        ArrowDown: 40,
        End: 35,
        Home: 36,
      }[key]
      const given = { key, code: key, windowsVirtualKeyCode: code, ...(key === 'Enter' && { text: '\r' }) }
      await this.send('Input.dispatchKeyEvent', { type: 'keyDown', ...given })
      await this.send('Input.dispatchKeyEvent', { type: 'keyUp', ...given })
    }
  }

  async picture(): Promise<Buffer> {
    const { data } = await this.send('Page.captureScreenshot', { format: 'png' })
    return Buffer.from(data, 'base64')
  }

  /** From now on the browser counts what the page works. */
  async countWork(): Promise<void> {
    await this.send('Performance.enable', { timeDomain: 'threadTicks' })
  }

  /** What the page works, by the clock of its thread: time in which other programs had the processor does not count. */
  async work(): Promise<number> {
    const { metrics } = (await this.send('Performance.getMetrics')) as {
      metrics: { name: string; value: number }[]
    }
    return metrics.find(({ name }) => name === 'TaskDuration')!.value * 1_000
  }
}

import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { closeAll, createRedisson, openRedis, uniqueName } from '../../../test/kit/clients'
import { type Standalone, startStandalone, waitUntil } from '../../../test/kit/servers/index'
import { removeWithThisProcess } from '../../../test/kit/servers/left-behind'
import { killRuns, type Run, start } from './cli'

const JAVA = '0b6d2a3e-1111-4222-8333-944444444444'
const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((file) => existsSync(file))

interface Answer {
  readonly status: number
  readonly text: string
  readonly policy: string
}

describe('rlock page', function () {
  this.timeout(60_000)
  let server: Standalone

  before(async () => {
    server = await startStandalone()
  })
  after(() => server.stop())
  afterEach(killRuns)
  afterEach(closeAll)

  async function open(...args: string[]): Promise<{ url: URL; token: string; run: Run }> {
    const run = await start(['page', '--redis', server.url, '--no-open', '--json', ...args])
    await waitUntil('it has printed its address', () => run.out.includes('\n'))
    const url = new URL(JSON.parse(run.out).address)
    return { url, token: url.hash.slice(1), run }
  }

  /** One request; of a stream the first part. Unlike fetch it may send any Host. */
  function ask(url: URL, path: string, headers: Record<string, string>, body?: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { hostname, port } = url
      const asked = request(
        { hostname, port, path, headers, method: body === undefined ? 'GET' : 'POST' },
        (answer) => {
          let text = ''
          const done = () =>
            resolve({
              status: answer.statusCode!,
              text,
              policy: String(answer.headers['content-security-policy']),
            })
          answer.on('data', (part: Buffer) => {
            text += part
            if (text.includes('\n\n') && path === '/events') {
              done()
              asked.destroy()
            }
          })
          answer.on('end', done)
        },
      )
      asked.on('error', reject)
      asked.end(body)
    })
  }

  it('rlock page listens on this machine only, and gives data to the token only', async () => {
    const redis = await openRedis(server.url)
    const name = uniqueName()
    await redis.hset(name, `${JAVA}:1`, 1)
    const { url, token } = await open()
    expect(url.hostname).to.equal('127.0.0.1')
    const page = await ask(url, '/', {})
    expect(page.status).to.equal(200)
    expect(page.text).to.not.contain(name).and.not.contain(token)
    expect(page.policy)
      .to.match(/^default-src 'none'; script-src 'sha256-/)
      .and.not.contain('unsafe')
    expect((await ask(url, '/events', {})).status).to.equal(401)
    expect((await ask(url, '/events', { authorization: 'Bearer old' })).status).to.equal(401)
    const events = await ask(url, '/events', { authorization: `Bearer ${token}` })
    expect(JSON.parse(events.text.slice(6)).rows.map((row: { name: string }) => row.name)).to.deep.equal([
      name,
    ])
  })

  it('rlock page refuses another host, another origin, and an unlock unless it was allowed', async () => {
    const redis = await openRedis(server.url)
    const name = uniqueName()
    const owner = `${JAVA}:1`
    await redis.hset(name, owner, 1)
    const body = JSON.stringify({ name, owner })
    const closed = await open()
    const authorization = `Bearer ${closed.token}`
    expect((await ask(closed.url, '/', { host: 'evil.example' })).status).to.equal(403)
    expect((await ask(closed.url, '/unlock', { authorization }, body)).status).to.equal(403)
    const allowed = await open('--allow-unlock')
    const headers = { authorization: `Bearer ${allowed.token}` }
    const foreign = await ask(allowed.url, '/unlock', { ...headers, origin: 'http://evil.example' }, body)
    expect(foreign.status).to.equal(403)
    expect((await ask(allowed.url, '/unlock', { authorization }, body)).status).to.equal(401)
    expect(await redis.exists(name)).to.equal(1)
    const other = await ask(allowed.url, '/unlock', headers, JSON.stringify({ name, owner: `${JAVA}:2` }))
    expect(other.text).to.contain('held by another')
    expect((await ask(allowed.url, '/unlock', headers, body)).text).to.equal('freed')
    expect(await redis.exists(name)).to.equal(0)
  })

  it('rlock page ends at a signal although a browser listens', async () => {
    const { url, token, run } = await open()
    await ask(url, '/events', { authorization: `Bearer ${token}` })
    run.child.kill('SIGTERM')
    expect((await run.ended).code).to.equal(0)
  })

  it('rlock page shows holders and waiters in Chromium, and a name with HTML as text', async function () {
    if (!CHROMIUM) return this.skip()
    const client = await createRedisson({ redis: server.url, label: 'orders <b>1</b>' })
    const name = `${uniqueName()}<img src=x onerror=alert(1)>`
    const hold = await client.getLock(name).acquire()
    const waiting = (await createRedisson({ redis: server.url })).getLock(name).acquire()
    const { url } = await open()
    const profile = mkdtempSync(join(tmpdir(), 'rlock-chromium-'))
    removeWithThisProcess(profile)
    const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', `--user-data-dir=${profile}`]
    const args = [...flags, '--timeout=5000', '--virtual-time-budget=5000', '--dump-dom', url.href]
    const { stdout } = await promisify(execFile)(CHROMIUM, args, { timeout: 50_000 })
    expect(stdout).to.contain('live').and.to.contain('waits, place 1')
    expect(stdout)
      .to.contain('&lt;img src=x onerror=alert(1)&gt;')
      .and.to.contain('orders &lt;b&gt;1&lt;/b&gt;')
    expect(stdout).to.not.contain('<img')
    await hold.unlock()
    await (await waiting).unlock()
  })
})

import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { createRedisson, uniqueName } from '../../../../test/kit/clients'
import { clientAndRedis, name, redis, redisson } from '../../../../test/kit/each-test'
import { ownServer, startStandalone, waitUntil } from '../../../../test/kit/servers/index'
import { removeWithThisProcess } from '../../../../test/kit/servers/left-behind'
import { takeSlot } from '../../../recipes/src/index'
import type { PageRow } from '../../src/page/view'
import { type Served, servePageOf, start } from '../cli'

const JAVA = '0b6d2a3e-1111-4222-8333-944444444444'

interface Answer {
  readonly status: number
  readonly text: string
  readonly policy: string
}

describe('rlock page', function () {
  this.timeout(60_000)
  const server = ownServer()
  clientAndRedis('test', { server })

  const open = (...args: string[]): Promise<Served> => servePageOf(server.url, ...args)

  /** One request; of a stream as much as `enough` says. Unlike fetch it may send any Host. */
  function ask(
    url: URL,
    path: string,
    headers: Record<string, string>,
    body?: string,
    enough = (text: string) => text.includes('"done":true'),
  ): Promise<Answer> {
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
            if (path === '/events' && answer.statusCode === 200 && enough(text)) {
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

  const eventsOf = (text: string) =>
    text
      .split('\n\n')
      .filter((event) => event.startsWith('data: ') && event.endsWith('}'))
      .map((event) => JSON.parse(event.slice(6)))

  async function rowsOf({ url, token }: Served): Promise<PageRow[]> {
    const events = await ask(url, '/events', { authorization: `Bearer ${token}` })
    return eventsOf(events.text).flatMap(({ rows }) => rows)
  }

  it('rlock page listens on this machine only, and gives data to the token only', async () => {
    await redis.hset(name, `${JAVA}:1`, 1)
    const served = await open()
    const { url, token } = served
    expect(url.hostname).to.equal('127.0.0.1')
    const page = await ask(url, '/', {})
    expect(page.status).to.equal(200)
    expect(page.text).to.not.contain(name).and.not.contain(token)
    expect(page.policy)
      .to.match(/^default-src 'none'; script-src 'sha256-/)
      .and.contain("require-trusted-types-for 'script'")
      .and.not.contain('unsafe')
    expect((await ask(url, '/events', {})).status).to.equal(401)
    expect((await ask(url, '/events', { authorization: 'Bearer old' })).status).to.equal(401)
    expect((await rowsOf(served)).map((row) => row.name)).to.include(name)
  })

  it('rlock page refuses another host, another origin, and an unlock unless it was allowed', async () => {
    await redis.hset(name, `${JAVA}:1`, 1)
    const idOf = async (served: Served) =>
      (await rowsOf(served)).find((row) => row.name === name)!.holders[0]!.id!
    const closed = await open()
    const authorization = `Bearer ${closed.token}`
    for (const host of ['evil.example', `evil.localhost:${closed.url.port}`, '127.0.0.1:1'])
      expect((await ask(closed.url, '/', { host })).status).to.equal(403)
    expect((await ask(closed.url, '/unlock', { authorization }, await idOf(closed))).status).to.equal(403)
    const allowed = await open('--allow-unlock')
    const headers = { authorization: `Bearer ${allowed.token}` }
    const id = await idOf(allowed)
    for (const origin of ['http://evil.example', 'null', `http://127.0.0.1:${closed.url.port}`]) {
      const foreign = await ask(allowed.url, '/unlock', { ...headers, origin }, id)
      expect(foreign.status).to.equal(403)
    }
    expect((await ask(allowed.url, '/unlock', { authorization }, id)).status).to.equal(401)
    expect((await ask(allowed.url, '/unlock', headers, 'x'.repeat(100_000))).status).to.equal(500)
    expect((await ask(allowed.url, '/unlock', headers, 'no-such-hold')).text).to.contain('held by another')
    expect(await redis.exists(name)).to.equal(1)
    expect((await ask(allowed.url, '/unlock', headers, id)).text).to.equal('freed')
    expect(await redis.exists(name)).to.equal(0)
    // Another owner took it after the page had shown the holder.
    await redis.hset(name, `${JAVA}:2`, 1)
    expect((await ask(allowed.url, '/unlock', headers, id)).text).to.contain('held by another')
    expect(await redis.exists(name)).to.equal(1)
  })

  it('rlock page sends all rows once, and then only those that have changed', async () => {
    const names = [0, 1, 2].map((at) => `${uniqueName()}:${at}`)
    for (const name of names) await redis.hset(name, `${JAVA}:1`, 1)
    for (const name of names) await redis.pexpire(name, 30_000)
    const { url, token } = await open(`${names[0]!.slice(0, -2)}*`)
    let isFreed = false
    const two = (text: string) => {
      if (text.includes('"done":true') && !isFreed) {
        isFreed = true
        void redis.del(names[0]!)
      }
      return text.includes('"gone":["')
    }
    const { text } = await ask(url, '/events', { authorization: `Bearer ${token}` }, undefined, two)
    const [first, ...later] = eventsOf(text)
    expect([first.isFirst, first.rows.length, first.done]).to.deep.equal([true, 1, true])
    expect(later.flatMap(({ rows }) => rows)).to.deep.equal([])
    expect(later.at(-1).gone).to.deep.equal([first.rows[0].id])
  })

  it('rlock page offers to free the holder of a lock, and none of a slot', async () => {
    const [lock, slots] = [uniqueName('a'), uniqueName('b')]
    await redisson.getLock(lock).lock()
    await takeSlot(redisson, slots, 2)
    const rows = await rowsOf(await open('--allow-unlock'))
    const free = rows.flatMap(({ name, holders }) => holders.map(({ id }) => [name, id !== null]))
    expect(Object.fromEntries(free)).to.include({ [lock]: true, [slots]: false })
  })

  it('rlock page says who blocks whom: waits of a holder, and holds of a waiter', async () => {
    const client = await createRedisson({ redis: server.url, label: 'orders' })
    const [outer, inner] = [uniqueName(), uniqueName()]
    const other = await createRedisson({ redis: server.url, label: 'billing' })
    const blocking = await other.getLock(inner).acquire()
    const both = client.run(async () => {
      await client.getLock(outer).lock()
      await client.getLock(inner).lock()
      await client.getLock(inner).unlock()
      await client.getLock(outer).unlock()
    })
    const served = await open()
    let rows: PageRow[] = []
    while (!rows.some(({ waits }) => waits.length > 0)) rows = await rowsOf(served)
    const [held, awaited] = [outer, inner].map((name) => rows.find((row) => row.name === name)!)
    expect(held!.holders[0]!.waitsFor).to.deep.equal([inner])
    expect(awaited!.holders[0]!.label).to.equal('billing')
    const [{ label, holds } = expect.fail()] = awaited!.waits
    expect([label, holds]).to.deep.equal(['orders', [outer]])
    await blocking.unlock()
    await both
  })

  it('rlock page hands its token to no program: it stands in a file of this user alone', async function () {
    if (process.platform !== 'linux') this.skip()
    const folder = mkdtempSync(join(tmpdir(), 'rlock-open-'))
    removeWithThisProcess(folder)
    const seen = join(folder, 'seen')
    writeFileSync(
      join(folder, 'xdg-open'),
      `#!/bin/sh\n{ echo "$@"; stat -c '%a %U' "$1"; cat "$1"; } > ${seen}.part; mv ${seen}.part ${seen}\n`,
      { mode: 0o755 },
    )
    const run = await start(['page', '--redis', server.url, '--json'], {
      PATH: `${folder}:${process.env.PATH}`,
    })
    await waitUntil('it opens the browser', () => existsSync(seen))
    const { address } = JSON.parse(run.out)
    const [file = '', mode = '', ...html] = readFileSync(seen, 'utf8').split('\n')
    expect(file).to.not.contain(new URL(address).hash.slice(1))
    expect(mode).to.match(/^600 /)
    expect(html.join()).to.contain(address)
    run.child.kill('SIGTERM')
    expect((await run.ended).code).to.equal(0)
    expect(existsSync(file)).to.equal(false)
  })

  it('rlock page says that the server is gone, and ends at a signal with a browser (V62)', async () => {
    const own = await startStandalone()
    const { url, token, run } = await servePageOf(own.url)
    const headers = { authorization: `Bearer ${token}` }
    await ask(url, '/events', headers)
    await own.stop()
    const failed = await ask(url, '/events', headers, undefined, (text) => text.includes('"error":"'))
    expect(eventsOf(failed.text).at(-1).error).to.be.a('string').and.not.empty
    run.child.kill('SIGTERM')
    expect((await run.ended).code).to.equal(0)
  })
})

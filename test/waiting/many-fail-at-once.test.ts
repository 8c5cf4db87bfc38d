import { expect } from 'chai'
import { createRedisson, openRedis, uniqueName } from '../kit/clients'
import { ownServer, waitUntil } from '../kit/servers/index'
import { waitingIn } from '../kit/sleepers'

/** Each of them sends its try when the one before it has failed, and a call stack has no room for so many. */
const CALLERS = 4_000

describe('Thousands of callers whose tries fail at once', () => {
  const server = ownServer()

  it('All reject when the server begins to refuse the login, and the lock works (V185)', async () => {
    const admin = await openRedis(server.url)
    const login = (password: string) =>
      admin.acl('SETUSER', 'app', 'on', 'resetpass', `>${password}`, '~*', '&*', '+@all')
    await login('one')
    const { host, port } = server
    const redis = { host, port, username: 'app', password: 'one' }
    const [holder, redisson] = [await createRedisson({ redis: server.url }), await createRedisson({ redis })]
    redisson.on('error', () => {})
    const name = uniqueName('refused')
    const hold = await holder.getLock(name).acquire()
    const lock = redisson.getLock(name)
    const ends: Record<string, number> = {}
    let settled = 0
    for (let caller = 0; caller < CALLERS; caller++)
      lock.acquire().catch((error) => {
        settled++
        ends[error.code] = (ends[error.code] ?? 0) + 1
      })
    await waitUntil('all wait', () => waitingIn(redisson, `lock ${name}`).isAsleep)
    await login('two')
    for (const line of String(await admin.client('LIST')).split('\n')) {
      const id = / user=app /.test(line) && /\bid=(\d+)/.exec(line)?.[1]
      if (id) await admin.client('KILL', 'ID', id)
    }
    await waitUntil('all have settled', () => settled === CALLERS, 30_000)
    expect(ends).to.deep.equal({ REDIS_REFUSED: CALLERS })
    await login('one')
    await hold.unlock()
    // Until then the client knows that the server refuses it, and says so at once.
    await waitUntil('the client is connected again', () => redisson.isConnected)
    const again = await lock.acquire({ signal: AbortSignal.timeout(30_000) })
    expect(again.isHeld).to.equal(true)
  })
})

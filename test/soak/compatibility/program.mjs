// Runs in Node, Bun and Deno with the installed package. Argument: the server's port. Prints one JSON line for each
// check, and ends by itself.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redisson } from 'rlock'

const WATCHDOG = 1_500
/** Far below the lease of a lock, so that only a notification can be that early. */
const SOON = 5_000
const port = Number(process.argv.at(-1))
const redis = `redis://127.0.0.1:${port}`

async function check(name, run) {
  try {
    await inTime(run())
    console.log(JSON.stringify({ check: name, ok: true }))
  } catch (error) {
    console.log(JSON.stringify({ check: name, ok: false, message: String(error?.stack ?? error) }))
  }
}

/** Rejects where the promise is late, so that one check cannot hold up the others. */
async function inTime(promise) {
  const late = new AbortController()
  try {
    return await Promise.race([
      promise,
      sleep(20_000, undefined, { signal: late.signal }).then(() => assert.fail('no end within 20 s')),
    ])
  } finally {
    late.abort()
  }
}

/** A command to the server past the package. */
const command = (line) =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`${line}\r\n`))
    socket.once('error', reject)
    socket.once('data', (answer) => {
      socket.destroy()
      resolve(String(answer).trim())
    })
  })

const complaints = []
const open = async (options) => {
  const client = await Redisson.create({ redis, ...options })
  client.on('error', (error) => complaints.push(error))
  return client
}
const mine = await open({ lockWatchdogTimeout: WATCHDOG })
const other = await open()

await check('import', async () => {
  assert.equal(createRequire(import.meta.url)('rlock').Redisson, Redisson)
})

await check('lock', async () => {
  const lock = mine.getLock('runtime:lock')
  await lock.lock()
  assert.equal(await lock.isHeldByCurrentThread(), true)
  assert.equal(await other.getLock('runtime:lock').tryLock(50), false)
  await lock.unlock()
  assert.equal(await lock.isLocked(), false)
  assert.equal(await command('EXISTS runtime:lock'), ':0')
})

await check('notified', async () => {
  const hold = await mine.getLock('runtime:notified').acquire()
  const waiting = other.getLock('runtime:notified').acquire()
  while ((await command('PUBSUB CHANNELS *runtime:notified*')) === '*0') await sleep(10)
  const released = performance.now()
  await hold.unlock()
  await (await waiting).unlock()
  assert.ok(performance.now() - released < SOON)
})

await check('re-entry', async () => {
  const lock = mine.getLock('runtime:re-entry')
  await lock.withLock(async () => {
    await sleep(1)
    await lock.withLock(async () => {
      await sleep(1)
      assert.equal(await lock.getHoldCount(), 2)
    })
    assert.equal(await lock.getHoldCount(), 1)
  })
  assert.equal(await lock.isLocked(), false)
})

await check('renewal', async () => {
  const hold = await mine.getLock('runtime:renewal').acquire()
  await sleep(2 * WATCHDOG)
  assert.equal(hold.isHeld, true)
  assert.equal(await other.getLock('runtime:renewal').tryLock(), false)
  await hold.unlock()
})

await check('loss', async () => {
  const hold = await mine.getLock('runtime:loss').acquire()
  const aborted = new Promise((resolve) => hold.signal.addEventListener('abort', resolve, { once: true }))
  assert.equal(await command('DEL runtime:loss'), ':1')
  await aborted
  assert.equal(hold.isHeld, false)
  assert.equal(hold.signal.reason.name, 'LockLostError')
})

// That the process then ends by itself is for the parent to see.
await check('shutdown', async () => {
  const waiting = other.getLock('runtime:shutdown')
  await mine.getLock('runtime:shutdown').lock()
  const refused = assert.rejects(waiting.lock())
  await sleep(100)
  await Promise.all([other.shutdown(), refused])
  await mine.shutdown()
  assert.deepEqual(complaints, [])
})

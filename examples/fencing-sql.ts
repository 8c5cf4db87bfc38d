/**
 * A row that only the newest holder of a fenced lock may write. Runs against the Redis server at REDIS_URL, with SQLite in
 * memory: node --import tsx examples/fencing-sql.ts
 */
import initSqlJs from 'sql.js'
// In your service: import { Redisson } from 'rlock'
import { type FencedLockHold, Redisson } from '../src/index'

async function main() {
  const { Database } = await initSqlJs()
  const db = new Database()
  // region fence
  db.run('CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER, token INTEGER, owner TEXT)')
  db.run("INSERT INTO account VALUES (1, 100, 0, '')")

  // A greater token may write. An equal one may write only for the same holder: after a failover
  // of Redis two holders can have the same token.
  function writeBalance(balance: number, token: number, owner: string): boolean {
    db.run(
      `UPDATE account SET balance = ?, token = ?, owner = ?
       WHERE id = 1 AND (token < ? OR (token = ? AND owner = ?))`,
      [balance, token, owner, token, token, owner],
    )
    return db.getRowsModified() === 1
  }
  // endregion

  const redis = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379'
  const [a, b] = [await Redisson.create({ redis }), await Redisson.create({ redis })]
  const ownerOf = (client: Redisson, hold: FencedLockHold) => `${client.getId()}:${hold.threadId}`
  const name = `account:1:${process.pid}`

  // A takes the lock for 100 ms, and is paused for longer.
  const overtaken = await a.getFencedLock(name).acquire({ leaseTime: 100 })
  const successor = await b.getFencedLock(name).acquire()
  console.log('B writes:', writeBalance(80, successor.token, ownerOf(b, successor)))
  console.log('A writes too late:', writeBalance(999, overtaken.token, ownerOf(a, overtaken)))
  console.log('B writes again:', writeBalance(70, successor.token, ownerOf(b, successor)))
  console.log(
    'Another holder with the token of B writes:',
    writeBalance(0, successor.token, ownerOf(a, overtaken)),
  )
  console.log('The balance:', db.exec('SELECT balance FROM account')[0]?.values[0]?.[0])

  await successor.unlock()
  await Promise.all([a.shutdown(), b.shutdown()])
}

void main()

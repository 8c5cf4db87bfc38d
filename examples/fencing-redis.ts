/**
 * A key that only the newest holder of a fenced lock may write. The data may be on another Redis server than the lock;
 * here both are at REDIS_URL: node --import tsx examples/fencing-redis.ts
 */
import { Redis } from 'ioredis'
// In your service: import { Redisson } from 'rlock'
import { type FencedLockHold, Redisson } from '../src/index'

// region fence
// A greater token may write. An equal one may write only for the same holder: after a failover of the
// server with the lock two holders can have the same token.
const WRITE_FENCED = `
-- KEYS[1] the data, KEYS[2] its fence: token and owner of the last writer
-- ARGV[1] the token, ARGV[2] the owner, ARGV[3] the data
local last = redis.call('hmget', KEYS[2], 'token', 'owner')
local token, lastToken = tonumber(ARGV[1]), tonumber(last[1] or '0')
if token < lastToken or (token == lastToken and last[2] ~= ARGV[2]) then
  return 0
end
redis.call('hset', KEYS[2], 'token', ARGV[1], 'owner', ARGV[2])
redis.call('set', KEYS[1], ARGV[3])
return 1`

async function writeFenced(redis: Redis, key: string, data: string, token: number, owner: string) {
  return (await redis.eval(WRITE_FENCED, 2, key, `${key}:fence`, token, owner, data)) === 1
}
// endregion

async function main() {
  const url = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379'
  const data = new Redis(url)
  const [a, b] = [await Redisson.create({ redis: url }), await Redisson.create({ redis: url })]
  const ownerOf = (client: Redisson, hold: FencedLockHold) => `${client.getId()}:${hold.threadId}`
  const name = `report:${process.pid}`
  const key = `{${name}}:data`

  // A takes the lock for 100 ms, and is paused for longer.
  const overtaken = await a.getFencedLock(name).acquire({ leaseTime: 100 })
  const successor = await b.getFencedLock(name).acquire()
  const write = (text: string, hold: FencedLockHold, client: Redisson, token = hold.token) =>
    writeFenced(data, key, text, token, ownerOf(client, hold))
  console.log('B writes:', await write('first', successor, b))
  console.log('A writes too late:', await write('late', overtaken, a))
  console.log('B writes again:', await write('second', successor, b))
  console.log(
    'Another holder with the token of B writes:',
    await write('twin', overtaken, a, successor.token),
  )
  console.log('The data:', await data.get(key))

  await successor.unlock()
  await data.del(key, `${key}:fence`)
  await Promise.all([a.shutdown(), b.shutdown(), data.quit()])
}

void main()

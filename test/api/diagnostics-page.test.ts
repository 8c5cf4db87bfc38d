import { channel } from 'node:diagnostics_channel'
import { expect } from 'chai'
import { createRedisson, openRedis, rejection, uniqueName } from '../kit/clients'
import { textOf } from '../kit/docs/pages'
import { waitUntil } from '../kit/servers/index'

const PAGE = 'docs/reference/events.md'
const OF_ALL = ['clientId', 'address', 'name', 'kind']

/** The fields that the page has for each channel. "The same object" is that of its `start`. */
function documented(): Map<string, Set<string>> {
  const fields = new Map<string, Set<string>>()
  for (const [, name, carries] of textOf(PAGE).matchAll(/^\| `((?:tracing:)?rlock:[\w:]+)` \| (.+?) \|/gm)) {
    const named = [...carries!.matchAll(/`(\w+)`/g)].map(([, field]) => field!)
    const start = carries!.startsWith('the same object')
      ? fields.get(name!.replace(/\w+$/, 'start'))!
      : OF_ALL
    fields.set(name!, new Set([...start, ...named]))
  }
  return fields
}

describe('The page of the diagnostics channels', () => {
  const subscribed: (() => void)[] = []
  afterEach(() => {
    for (const unsubscribe of subscribed.splice(0)) unsubscribe()
  })

  it('The diagnostics page has every field that the messages carry, and no other', async () => {
    const fields = documented()
    expect([...fields.keys()]).to.include.members(['tracing:rlock:hold:error', 'rlock:renew'])
    const redisson = await createRedisson({ lockWatchdogTimeout: 2_400 })
    const name = uniqueName('page')
    const found = new Map<string, Set<string>>()
    for (const each of fields.keys()) {
      const keys = new Set<string>()
      found.set(each, keys)
      const note = (message: unknown) => {
        if ((message as { clientId: string }).clientId !== redisson.getId()) return
        for (const key of Object.keys(message as object)) keys.add(key)
      }
      channel(each).subscribe(note)
      subscribed.push(() => channel(each).unsubscribe(note))
    }
    await redisson.getLock(name).withLock(() => {})
    const lost = await redisson.getLock(name).acquire()
    await rejection(redisson.getLock(name).acquire({ signal: AbortSignal.timeout(20) }))
    await waitUntil('a renewal', () => found.get('rlock:renew')!.size > 0)
    await (await openRedis()).del(name)
    await waitUntil('the loss', () => lost.signal.aborted)
    for (const [each, keys] of fields) expect([...found.get(each)!], each).to.have.members([...keys])
  })
})

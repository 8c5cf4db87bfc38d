import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { sharedStandalone } from '../../test/kit/servers/index'
import { Evidence } from '../evidence'
import type { Keys } from '../messages'
import { ServerRecord } from '../server-record'
import { faultsOf } from '../verdict'

const PROCESSES = new Map([
  ['client-1', 'node-1'],
  ['client-2', 'node-2'],
  ['client-j', 'java'],
])

describe("The demo's evidence", () => {
  let keys: Keys
  let evidence: Evidence
  let record: ServerRecord

  beforeEach(async () => {
    const { url } = await sharedStandalone()
    const lock = `demo-evidence-${randomUUID()}`
    keys = { lock, counter: `${lock}:counter`, log: `${lock}:log` }
    evidence = new Evidence(keys, PROCESSES)
    record = await ServerRecord.open(url, (command) => evidence.add(command))
  })

  afterEach(async () => {
    await record.redis.del(keys.lock, keys.counter, keys.log)
    record.close()
  })

  it('Evidence of a lock finds nothing wrong with turns one after the other', async () => {
    await turn('client-1', 'node-1')
    await turn('client-2', 'node-2')
    await turn('client-j', 'java', 'a')
    await turn('client-j', 'java', 'b')
    await turn('client-j', 'java', 'b')
    await turn('client-1', 'node-1')
    expect(await faults(6)).to.deep.equal([])
    expect(evidence.handoffs).to.deep.equal({ Node: { Node: 1, Java: 1 }, Java: { Node: 1, Java: 1 } })
    expect(evidence).to.include({ grants: 6, keptTurns: 1 })
    expect(evidence.sections[0]!.to! - evidence.sections[0]!.from).to.be.within(0, 1000)
  })

  it('Evidence of a lock reports turns that overlap', async () => {
    await grant('client-1:1')
    await log('node-1', 'acquired')
    await log('java', 'acquired')
    await log('node-1', 'released')
    await free()
    await log('java', 'released')
    expect(await faults(2)).to.include.members([
      '1 of 2 turns overlapped another',
      'a process was inside without owning the lock 1 times',
    ])
    expect(evidence.sections.map(({ overlaps }) => overlaps)).to.deep.equal([true, true])
  })

  it('Evidence of a lock reports a lock that two own, and one that is given up too early', async () => {
    await grant('client-1:1')
    await grant('client-j:1')
    await free()
    await grant('client-1:2')
    await log('node-1', 'acquired')
    await record.redis.hincrby(keys.lock, 'client-1:2', -1)
    await log('node-1', 'released')
    expect(await faults(1)).to.include.members([
      'the lock was granted 1 times while another owned it',
      'a process was inside without owning the lock 1 times',
    ])
  })

  it('Evidence of a lock reports lost updates and turns without an end or a beginning', async () => {
    await grant('client-1:1')
    await log('node-1', 'acquired')
    await log('node-2', 'released')
    expect(await faults(0)).to.include.members([
      '1 updates of the counter were lost',
      '1 turns never ended',
      '1 turns ended that never began',
    ])
  })

  it('Evidence of a lock reports missing handoffs, and a run in which nothing happened', async () => {
    expect(await faults(0)).to.include('no caller ever took the lock')
    await turn('client-1', 'node-1')
    await turn('client-j', 'java')
    expect(await faults(2)).to.deep.equal(['no handoff Node -> Node, Java -> Node, Java -> Java'])
  })

  it('Evidence of a lock reports log entries that its record misses', async () => {
    await turn('client-1', 'node-1')
    await record.caughtUp()
    const unseen = faultsOf(evidence, { counter: 1, logLength: 4, withJava: false })
    expect(unseen).to.include('the record misses 2 entries of the log')
  })

  async function turn(client: string, who: string, thread = 'a') {
    await grant(`${client}:1`)
    await log(who, 'acquired', thread)
    await log(who, 'released', thread)
    await free()
  }

  async function faults(counter: number): Promise<string[]> {
    await record.caughtUp()
    return faultsOf(evidence, { counter, logLength: await record.redis.xlen(keys.log), withJava: true })
  }

  const grant = (owner: string) => record.redis.hincrby(keys.lock, owner, 1)
  const free = () => record.redis.del(keys.lock)
  const log = (who: string, event: string, thread = 'a') =>
    record.redis.xadd(keys.log, '*', 'who', who, 'thread', thread, 'event', event, 'waitMs', '1.5')
})

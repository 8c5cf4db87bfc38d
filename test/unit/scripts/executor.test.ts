import { expect } from 'chai'
import { NOT_SENT } from '../../../src/redis/reply/errors'
import { OutageReporter } from '../../../src/redis/reports/outage-reporter'
import { BrokenConnections } from '../../../src/redis/send/fences'
import { ScriptExecutor } from '../../../src/scripts/executor'
import type { Script } from '../../../src/scripts/script'
import type { ScriptTransport } from '../../../src/scripts/transport'
import { VirtualClock } from '../../kit/virtual-clock'

const CLOSED = new Error('Connection is closed.')
const SCRIPT: Script = { name: 'test', source: '', sha: '', decode: (raw) => raw }

function reply(message: string): Error {
  return Object.assign(new Error(message), { name: 'ReplyError' })
}

describe('The calls of a client', () => {
  let clock: VirtualClock
  let reported: string[]
  let state: ScriptTransport['state']
  let refusal: Error | undefined
  let connections: BrokenConnections
  let error: Error

  beforeEach(() => {
    clock = new VirtualClock()
    reported = []
    state = 'ready'
    refusal = undefined
    connections = new BrokenConnections()
  })

  const run = (send: ScriptTransport['send'] = (_script, _bySource, _answered, failed) => failed(error)) =>
    executorWith(send)
      .run(SCRIPT, ['key'], [])
      .answer.catch((thrown: Error) => thrown.message)

  function executorWith(send: ScriptTransport['send']) {
    const outages = new OutageReporter(clock, { error: ({ message }) => reported.push(message) })
    return new ScriptExecutor({
      ...{ clientAndServer: 'client', clock, outages, refusals: outages, secrets: [], logsInAgain: false },
      ...{ unavailableAfter: 10_000, silentAfter: 3_000 },
      transport: {
        get lastBroken() {
          return connections.last
        },
        serverOf: () => '',
        get state() {
          return state
        },
        get refusal() {
          return refusal
        },
        send,
        probe() {},
      },
    })
  }

  /** In steps, because each try arms a timer. */
  const pass = (ms: number) => {
    for (let passed = 0; passed < ms; passed += 50) clock.advance(50)
  }

  it('A server that declines is reported at once, and a connection that is away after a second', () => {
    error = reply('LOADING Redis is loading the dataset in memory')
    run()
    expect(reported).to.deep.equal([error.message])
    reported = []
    state = 'away'
    run()
    pass(900)
    expect(reported).to.deep.equal([])
    pass(500)
    expect(reported).to.deep.equal([NOT_SENT.message])
  })

  it('The error names what the server said last, and not that it was away after that', async () => {
    error = reply('LOADING Redis is loading the dataset in memory')
    const failing = run()
    state = 'away'
    pass(11_000)
    expect(await failing).to.contain('LOADING')
  })

  it('Calls that are answered in any order are in flight until then, and no longer', () => {
    const answers: ((value: unknown) => void)[] = []
    const executor = executorWith((_script, _bySource, answered) => answers.push(answered))
    for (let calls = 0; calls < 4; calls++) executor.run(SCRIPT, ['key'], [])
    const inFlight = [1, 3, 0, 2].map((each) => {
      answers[each]!(each)
      return executor.inFlight
    })
    expect(inFlight).to.deep.equal([3, 2, 1, 0])
  })

  it('A call that waits for its fence is rejected when the server refuses each new connection', async () => {
    const failing = run((_script, _bySource, _answered, failed) => {
      connections.add('')
      failed(CLOSED)
    })
    state = 'away'
    refusal = reply('WRONGPASS invalid username-password pair')
    pass(11_000)
    expect(await failing).to.contain('WRONGPASS')
  })

  it('No copy follows one that may have been applied after the process stood still', () => {
    const failures: ((error: unknown) => void)[] = []
    const executor = executorWith((_script, _bySource, _answered, failed) => failures.push(failed))
    executor.run(SCRIPT, ['key'], [])
    failures[0]!(CLOSED)
    pass(50)
    expect(failures.length).to.equal(2)
    clock.advance(20_000)
    failures[1]!(reply('NOSCRIPT No matching script'))
    expect(failures.length).to.equal(2)
    expect(executor.inFlight).to.equal(0)
  })
})

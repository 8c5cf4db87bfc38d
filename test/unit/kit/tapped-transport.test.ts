import { expect } from 'chai'
import type { Script } from '../../../src/scripts/script'
import type { ScriptTransport } from '../../../src/scripts/transport'
import { type Tap, tapped } from '../../kit/tapped-transport'

describe('A tap in front of the transport', () => {
  const script = { name: 'lock/acquire' } as Script
  let answer: ((value: unknown) => void)[]
  let refuse: ((error: unknown) => void)[]

  /** Stands for the connection: answers when the test says so. */
  const connection = {
    send(_call, _bySource, answered, failed) {
      answer.push(answered)
      refuse.push(failed)
    },
  } as ScriptTransport

  beforeEach(() => {
    answer = []
    refuse = []
  })

  function post(tap: Tap): unknown[] {
    const heard: unknown[] = []
    const note = (value: unknown) => heard.push(value)
    tapped(tap)(connection).send({ script, keys: ['key'], args: [] }, false, note, note)
    return heard
  }

  it('A command that the tap passes on is answered in the turn in which the answer comes', () => {
    const heard = post((sent) => sent.pass())
    answer[0]!(1)
    expect(heard).to.deep.equal([1])
  })

  it('A command that the tap passes on fails in the turn in which the error comes', () => {
    const heard = post((sent) => sent.pass())
    refuse[0]!('closed')
    expect(heard).to.deep.equal(['closed'])
  })

  it('A command whose answer the tap holds back is answered when the tap says so', async () => {
    let open!: () => void
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    const heard = post(async (sent) => {
      const value = await sent.pass()
      await opened
      return value
    })
    answer[0]!(1)
    await new Promise((resolve) => setImmediate(resolve))
    expect(heard).to.deep.equal([])
    open()
    await new Promise((resolve) => setImmediate(resolve))
    expect(heard).to.deep.equal([1])
  })

  it('A command that is sent twice is answered once, by the copy that the tap returns', () => {
    const heard = post((sent) => {
      const first = sent.pass()
      void sent.pass()
      return first
    })
    answer[1]!(2)
    expect(heard).to.deep.equal([])
    answer[0]!(1)
    expect(heard).to.deep.equal([1])
  })
})

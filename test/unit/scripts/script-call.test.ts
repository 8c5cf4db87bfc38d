import { expect } from 'chai'
import { BrokenConnections } from '../../../src/redis/send/fences'
import type { Script } from '../../../src/scripts/script'
import { ScriptCall } from '../../../src/scripts/script-call'
import type { ScriptTransport } from '../../../src/scripts/transport'
import { systemClock } from '../../../src/util/clock'

const KEY = 'key'

/** A map of slots that changes, and the connections that broke meanwhile. */
class Scene {
  readonly broken = new BrokenConnections()
  server = 'old'
  readonly call: ScriptCall<unknown>

  constructor() {
    this.call = new ScriptCall({} as Script, [KEY], [], systemClock, this.broken.last, false)
  }

  brokeOff() {
    this.call.brokeOff(this.transport)
  }

  private get transport(): ScriptTransport {
    const known: Partial<ScriptTransport> = { lastBroken: this.broken.last, serverOf: () => this.server }
    return known as ScriptTransport
  }
}

describe('What a call knows of its broken connections', () => {
  let scene: Scene

  beforeEach(() => {
    scene = new Scene()
  })

  it('A call waits for the fence of the connection that broke', () => {
    const broken = scene.broken.add('old')
    scene.brokeOff()
    expect(scene.call).to.include({ isFencePending: true, hasLostCopy: true })
    broken.settle()
    expect(scene.call).to.include({ isFencePending: false, hasLostCopy: true })
  })

  it('A call whose slot has moved waits for the new server, and not for the old one', () => {
    scene.broken.add('old')
    scene.server = 'new'
    const redirected = scene.broken.add('new')
    scene.brokeOff()
    expect(scene.call.isFencePending).to.equal(true)
    redirected.settle()
    expect(scene.call).to.include({ isFencePending: false, hasLostCopy: true })
  })
})

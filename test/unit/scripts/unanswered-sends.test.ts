import { expect } from 'chai'
import { BrokenConnections } from '../../../src/redis/fencing/broken-connections'
import type { ScriptTransport } from '../../../src/scripts/transport'
import { UnansweredSends } from '../../../src/scripts/unanswered-sends'

const KEY = 'key'

/** A map of slots that changes, and the connections that broke meanwhile. */
class Scene {
  readonly broken = new BrokenConnections()
  server = 'old'
  readonly sends: UnansweredSends

  constructor() {
    this.sends = new UnansweredSends(this.broken.last)
  }

  send() {
    this.sends.isSent(this.transport, KEY)
  }

  brokeOff() {
    this.sends.brokeOff(this.transport, KEY)
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
    scene.send()
  })

  it('No copy can arrive late once the connection to the server of the key is fenced', () => {
    const broken = scene.broken.add('old', 'pending')
    scene.brokeOff()
    expect(scene.sends).to.include({ isFencePending: true, lateCopyPossible: true })
    broken.settle('fenced')
    expect(scene.sends).to.include({ isFencePending: false, lateCopyPossible: false })
  })

  it('A copy sent before the slot moved may arrive late though a connection to the new server was fenced', () => {
    scene.broken.add('old', 'unfenced')
    scene.server = 'new'
    scene.broken.add('new', 'fenced')
    scene.brokeOff()
    expect(scene.sends.lateCopyPossible).to.equal(true)
  })

  it('A call whose slot has moved waits for the new server, and not for the old one', () => {
    scene.broken.add('old', 'pending')
    scene.server = 'new'
    const redirected = scene.broken.add('new', 'pending')
    scene.brokeOff()
    expect(scene.sends.isFencePending).to.equal(true)
    redirected.settle('fenced')
    expect(scene.sends).to.include({ isFencePending: false, lateCopyPossible: true })
  })

  it('The next copy is traced to where it was sent', () => {
    scene.broken.add('old', 'fenced')
    scene.brokeOff()
    scene.server = 'new'
    scene.send()
    scene.broken.add('new', 'fenced')
    scene.brokeOff()
    expect(scene.sends.lateCopyPossible).to.equal(false)
  })
})

import { expect } from 'chai'
import { BrokenConnections } from '../../../src/redis/send/fences'
import { fencesAfter, isFencePending } from '../../../src/scripts/call-fences'

describe('The fences of a call', () => {
  it('A call waits for the fence of the connection that broke, and for none before it was sent', () => {
    const connections = new BrokenConnections()
    connections.add('old')
    const { last } = connections
    const broken = connections.add('old')
    const fences = fencesAfter(last, 'old')
    expect(isFencePending(fences)).to.equal(true)
    broken.settle()
    expect(isFencePending(fences)).to.equal(false)
  })

  it('A call whose slot has moved waits for the new server, and not for the old one', () => {
    const connections = new BrokenConnections()
    const { last } = connections
    connections.add('old')
    const redirected = connections.add('new')
    const fences = fencesAfter(last, 'new')
    expect(isFencePending(fences)).to.equal(true)
    redirected.settle()
    expect(isFencePending(fences)).to.equal(false)
  })
})

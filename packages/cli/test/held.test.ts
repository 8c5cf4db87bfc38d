import { expect } from 'chai'
import { createRedisson, uniqueName } from '../../../test/kit/clients'
import { rejection } from '../../../test/kit/rejection'
import { holdOf, taking } from '../src/exec/held'

describe('What rlock exec holds', () => {
  for (const [what, values] of [
    ['a lock', {}],
    ['a permit', { permits: '1' }],
    ['a fenced lock', { fenced: true }],
  ] as const)
    it(`is released where the command cannot be started: ${what}`, async () => {
      const client = await createRedisson()
      const wanted = taking(uniqueName(), values)
      const failure = new Error('no such program')
      const work = async () => {
        expect(client.stats().held).to.equal(1)
        throw failure
      }
      const { signal } = new AbortController()
      const error = await rejection(holdOf(client as never, wanted, signal, work))
      expect(error).to.equal(failure)
      expect(client.stats().held).to.equal(0)
      const again = await holdOf(
        client as never,
        { ...wanted, waitTime: 0 },
        signal,
        async () => ({ code: 0 }) as never,
      )
      expect(again).to.deep.include({ lost: false })
    })
})

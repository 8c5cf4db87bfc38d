import { expect } from 'chai'
import { openRedis, uniqueName } from '../test/kit/clients'
import { type ContentionReport, describeWithJava, ownJavaPeer } from '../test/kit/java'
import { Program } from '../test/kit/program'
import { ownServer } from '../test/kit/servers/index'

const TURNS = 20

describeWithJava('A multi lock among two Node processes and a Java one', () => {
  const server = ownServer()
  const peer = ownJavaPeer(server)

  it('Multi locks of Java and Node in random orders are acquired one at a time (M1)', async () => {
    const redis = await openRedis(server.url)
    const names = ['a', 'b', 'c'].map((name) => uniqueName(name))
    const [a, b, c] = names
    const counterKey = uniqueName('counter')
    const nodes = [1, 2].map(
      () =>
        new Program('multi-lock-callers.ts', String(server.port), names.join(), String(TURNS), counterKey),
    )
    for (const node of nodes) expect(await node.line()).to.equal('ready')
    const started = performance.now()
    for (const node of nodes) node.say('go')
    // One Java thread: two with different orders would keep each other waiting for whole rounds of 4.5 s.
    const java = (async () => {
      const reports: ContentionReport[] = []
      for (const order of [
        [c, b, a],
        [b, a, c],
      ])
        reports.push(
          await peer.contend(order.join(), {
            type: 'multi',
            sections: TURNS / 2,
            holdMs: [0, 4],
            pauseMs: [0, 4],
            counterKey,
          }),
        )
      return reports
    })()
    const [longest, reports] = await Promise.all([Promise.all(nodes.map((node) => node.line())), java])
    const took = performance.now() - started
    for (const report of reports) expect(report.errors).to.deep.equal([])
    expect(await redis.get(counterKey)).to.equal(String(3 * TURNS))
    expect(took).to.be.lessThan(30_000)
    expect(await redis.exists(...names)).to.equal(0)
    const ofJava = Math.round(Math.max(...reports.map(({ max }) => max)))
    console.log(
      `        ${Math.round(took)} ms in all; longest wait ${longest} ms in Node, ${ofJava} ms in Java`,
    )
  })
})

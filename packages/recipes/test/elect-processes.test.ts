import { expect } from 'chai'
import { uniqueName } from '../../../test/kit/clients'
import { Program } from '../../../test/kit/program'
import { openProxy } from '../../../test/kit/proxies'
import { freshServer, type TcpProxy, waitUntil } from '../../../test/kit/servers/index'

const PROGRAM = '../../../packages/recipes/test/program.ts'
const LEASE = 1_500

/** A moment at which a candidate found that it leads. */
interface Look {
  readonly time: number
  readonly term: number
}

/** A candidate in a process of its own, behind a network of its own. */
class Candidate {
  readonly looks: Look[] = []

  private constructor(
    readonly program: Program,
    readonly network: TcpProxy,
  ) {}

  static async start(
    server: { host: string; port: number },
    name: string,
    label: string,
  ): Promise<Candidate> {
    const network = await openProxy(server)
    const candidate = new Candidate(
      new Program(PROGRAM, 'candidate', network.url, String(LEASE), name, label),
      network,
    )
    expect(await candidate.program.line()).to.equal('stands')
    void candidate.read().catch(() => {})
    return candidate
  }

  private async read() {
    for (;;) {
      const [time, term] = (await this.program.line()).split(' ').map(Number)
      this.looks.push({ time: time!, term: term! })
    }
  }
}

describe('An election among ten processes', function () {
  this.timeout(120_000)

  it('Kills, stops and partitions: one leads at a time, and terms rise (guarantees 1 and 5)', async () => {
    const server = await freshServer()
    const name = uniqueName('election')
    const candidates: Candidate[] = []
    // Two at a time: each is a process that compiles its sources.
    for (let at = 0; at < 10; at += 2)
      candidates.push(
        ...(await Promise.all([at, at + 1].map((each) => Candidate.start(server, name, `c${each}`)))),
      )
    const newest = () =>
      candidates.reduce((one, other) =>
        (other.looks.at(-1)?.term ?? 0) > (one.looks.at(-1)?.term ?? 0) ? other : one,
      )
    const termOf = (candidate: Candidate) => candidate.looks.at(-1)?.term ?? 0
    await waitUntil('one leads', () => termOf(newest()) > 0)
    const faults: ((leader: Candidate) => void)[] = [
      ({ program }) => program.kill('SIGKILL'),
      ({ program }) => program.kill('SIGSTOP'),
      ({ network }) => network.stall(),
      ({ program }) => program.say('resign'),
      ({ network }) => network.stallReplies(),
      ({ program }) => program.kill('SIGSTOP'),
      ({ network }) => network.stall(),
      ({ program }) => program.kill('SIGKILL'),
    ]
    for (const [at, fault] of faults.entries()) {
      const leader = newest()
      const term = termOf(leader)
      fault(leader)
      await waitUntil(`fault ${at} is followed by another leader`, () => termOf(newest()) > term, 6 * LEASE)
      // It comes back while another one leads, and looks.
      leader.program.kill('SIGCONT')
      leader.network.resume()
    }
    const looks = candidates.flatMap((candidate) => candidate.looks.map((look) => ({ ...look, candidate })))
    looks.sort((one, other) => one.time - other.time || one.term - other.term)
    const owners = new Map<number, Candidate>()
    for (const [at, { term, time, candidate }] of looks.entries()) {
      expect(term, `at ${time}`).to.be.at.least(looks[at - 1]?.term ?? 0)
      expect(owners.get(term) ?? candidate, `term ${term}`).to.equal(candidate)
      owners.set(term, candidate)
    }
    expect(owners.size).to.be.greaterThan(faults.length)
  })
})

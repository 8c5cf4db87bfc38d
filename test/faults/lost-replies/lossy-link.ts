import {
  type Address,
  type CommandPredicate,
  startProxy,
  type TcpProxy,
  waitUntil,
} from '../../kit/servers/index'

/** When the copy that is sent again gets through. */
export type Return =
  /** Nothing is lost: what the others are compared with. */
  | 'none'
  /** At once, on the next connection. */
  | 'resend'
  /** Only after the server has been out of reach for a while. */
  | 'reconnect'

/** Whose reply is lost: the script's, or that of the WAIT behind it. */
export type Answering = 'script' | 'wait'

const AWAY_FOR = 300

/** The first WAIT after a script of this hash: other scripts may have WAITs of their own before it. */
function waitBehind(sha: string): CommandPredicate {
  let sent = false
  return ([name = '', hash]) => {
    sent ||= hash === sha
    return sent && /^wait$/i.test(name)
  }
}

/** Proxies before every node of a setting, through which one client of a case connects. */
export class LossyLink {
  private copies = 0
  private firstCopyAt = 0
  private counting: string | undefined
  private loss: Promise<void> | undefined

  private constructor(
    private readonly proxies: readonly TcpProxy[],
    private readonly targets: readonly Address[],
  ) {
    for (const proxy of proxies)
      void proxy.dropNextReply((words) => {
        if (words[1] === this.counting && this.copies++ === 0) this.firstCopyAt = performance.now()
        return false
      })
  }

  static async open(targets: readonly Address[]): Promise<LossyLink> {
    return new LossyLink(await Promise.all(targets.map((target) => startProxy(target))), targets)
  }

  /** Where the client finds the proxies, in the order of the nodes. */
  get addresses(): Address[] {
    return this.proxies.map(({ host, port }) => ({ host, port }))
  }

  /** From the real addresses to those of the proxies, for clients that get addresses from servers. */
  get natMap(): Record<string, Address> {
    const entries = this.targets.map(({ host, port }, index) => {
      const proxy = this.proxies[index]!
      return [`${host}:${port}`, { host: proxy.host, port: proxy.port }]
    })
    return Object.fromEntries(entries) as Record<string, Address>
  }

  /** The script was sent once at least. */
  get isSent(): boolean {
    return this.copies > 0
  }

  /** Milliseconds since the script was first sent. */
  get age(): number {
    return performance.now() - this.firstCopyAt
  }

  /** The script has been sent and, where its reply was lost, sent again. */
  async seenThrough(): Promise<void> {
    await this.loss
    const copies = this.loss ? 2 : 1
    await waitUntil(`the script is sent ${copies}×`, () => this.copies >= copies, 10_000, 5)
  }

  /**
   * Loses the reply of the next script of this hash, or of the WAIT behind it. Resolves when it has happened, and
   * with 'reconnect' everything is refused from then until `letBack`.
   */
  loseReply(sha: string, how: Return, of: Answering): Promise<void> {
    this.counting = sha
    if (how === 'none') return Promise.resolve()
    this.loss = this.lose(of === 'wait' ? waitBehind(sha) : (words) => words[1] === sha, how)
    return this.loss
  }

  private async lose(matches: CommandPredicate, how: Return): Promise<void> {
    let lost = false
    const theFirst = (words: readonly string[]) => {
      if (lost || !matches(words)) return false
      lost = true
      return true
    }
    await Promise.race(this.proxies.map((proxy) => proxy.dropNextReply(theFirst)))
    if (how === 'reconnect') this.refuse()
  }

  async letBack(how: Return): Promise<void> {
    if (how !== 'reconnect') return
    await new Promise((resolve) => setTimeout(resolve, AWAY_FOR))
    for (const proxy of this.proxies) await proxy.accept()
  }

  async close(): Promise<void> {
    await Promise.all(this.proxies.map((proxy) => proxy.stop()))
  }

  private refuse() {
    for (const proxy of this.proxies) {
      proxy.breakOff()
    }
  }
}

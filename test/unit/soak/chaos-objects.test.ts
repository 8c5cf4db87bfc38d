import { expect } from 'chai'
import { type ScriptName, script } from '../../../src/scripts/script'
import type { ScriptTransport, SentScript } from '../../../src/scripts/transport'
import type { EvidenceRecord } from '../../soak/chaos/evidence/records'
import { Court } from '../../soak/chaos/judges/court'
import { OBJECTS, type ObjectKind, plansOf } from '../../soak/chaos/plan/objects'
import { mutatedObject, type ObjectMutant } from '../../soak/chaos/worker/mutants'

const SECOND = 1_000_000
const SEMAPHORE = 'chaos:semaphore@0'
const PERMITS = 'chaos:permits@0'
const LATCH = 'chaos:latch@0'

/** Feeds a court with what workers would have recorded; times in seconds. */
class Story {
  readonly court = new Court(plansOf(Object.keys(OBJECTS) as ObjectKind[], 'standalone'))

  constructor(private readonly lock: string) {}

  tell(at: number, who: string, event: EvidenceRecord['event'], more: Partial<EvidenceRecord> = {}): this {
    const [worker = '', caller = 'caller'] = who.split(' ')
    this.court.record({
      ...{ event, worker, caller, lock: this.lock, side: 'x', turn: 1, at: at * SECOND },
      ...{ value: undefined, ok: true, error: undefined, lease: undefined },
      ...more,
    })
    return this
  }

  fault(
    kind: 'stop-worker' | 'stall' | 'restart-empty',
    worker: string | undefined,
    from: number,
    to: number,
  ): this {
    this.court.disturbances.begin(kind, worker, from * SECOND).to = to * SECOND
    return this
  }

  /** The server said so. */
  reads(at: number, free: number, out?: number): this {
    const reading = { askedAt: at * SECOND, answeredAt: at * SECOND + 100, free, out }
    this.court.capacity(this.lock).read(reading)
    return this
  }

  counts(at: number, count: number): this {
    this.court.latch(this.lock).read({ askedAt: at * SECOND, answeredAt: at * SECOND + 100, count })
    return this
  }

  look(at: number): this {
    this.court.look(at * SECOND)
    return this
  }

  violations(): string[] {
    this.court.finish()
    return this.court.violations.map(({ kind }) => kind)
  }
}

const ignore = () => {}

describe('The judges of a chaos run', () => {
  describe('Fair locks', () => {
    /** The first has its place at 1 s, the second asks at `asks`, and comes in before it. */
    const passed = (asks: number) =>
      new Story('chaos:fair')
        .tell(0.5, 'node-1 first', 'want')
        .tell(1, 'node-1', 'place', { owner: 'a:1' })
        .tell(asks, 'node-2 second', 'want')

    const comesFirst = (story: Story) =>
      story
        .tell(3, 'node-2 second', 'in', { owner: 'b:1' })
        .tell(3.1, 'node-2 second', 'out', { value: 1 })
        .tell(3.2, 'node-2 second', 'free')
        .tell(4, 'node-1 first', 'in', { owner: 'a:1' })

    it('The judge of fair locks finds a caller that enters before a confirmed place', () => {
      expect(comesFirst(passed(1.1)).violations()).to.deep.equal(['overtaken'])
    })

    it('The judge of fair locks finds none that may have arrived first, and none beside a fault', () => {
      expect(comesFirst(passed(0.9)).violations()).to.be.empty
      expect(comesFirst(passed(1.1).fault('stall', 'node-1', 1.5, 2)).violations()).to.be.empty
    })

    it('The judge of fair locks counts what it could judge', () => {
      const story = new Story('chaos:fair').tell(0.5, 'node-1', 'want')
      story.tell(1, 'node-1', 'place', { owner: 'a:1' }).tell(2, 'node-1', 'in', { owner: 'a:1' })
      expect(story.court.judged).to.deep.include({
        object: 'chaos:fair',
        what: 'places in the queue',
        times: 1,
      })
    })
  })

  describe('Fenced locks', () => {
    const drew = (first: number, second: number) =>
      new Story('chaos:fenced')
        .tell(1, 'node-1', 'in', { token: first })
        .tell(1.1, 'node-1', 'out', { value: 1 })
        .tell(1.2, 'node-1', 'free')
        .tell(2, 'node-2', 'in', { token: second })

    it('The judge of fenced locks finds tokens that do not rise', () => {
      expect(drew(5, 6).violations()).to.be.empty
      expect(drew(5, 5).violations()).to.deep.equal(['token'])
      expect(drew(5, 4).violations()).to.deep.equal(['token'])
    })

    it('The judge of fenced locks lets tokens begin anew after a lost data set', () => {
      const story = new Story('chaos:fenced').tell(1, 'node-1', 'in', { token: 5 })
      story.tell(1.1, 'node-1', 'out', { value: 1 }).tell(1.2, 'node-1', 'free')
      story.fault('restart-empty', undefined, 1.5, 1.6)
      expect(story.tell(2, 'node-2', 'in', { token: 1 }).violations()).to.be.empty
    })
  })

  describe('Semaphores', () => {
    const permits = (lock: string, units: number, count: number) => {
      const story = new Story(lock)
      for (let i = 1; i <= count; i++)
        story
          .tell(i, `node-${i}`, 'want', { side: 'p', units })
          .tell(i + 0.1, `node-${i}`, 'in', { side: 'p', units })
      return story
    }
    const out = (story: Story, at: number, count: number) => {
      for (let i = 1; i <= count; i++) story.tell(at, `node-${i}`, 'out', { side: 'p' })
      return story
    }

    it('The judge of semaphores finds more permits in use than there are', () => {
      expect(out(permits(SEMAPHORE, 2, 2), 9, 2).violations()).to.be.empty
      expect(out(permits(SEMAPHORE, 2, 3), 9, 3).violations()).to.deep.equal(['overfull'])
    })

    it('The judge of semaphores excuses a process that stood still and then did nothing', () => {
      const story = permits(PERMITS, 1, 5).fault('stop-worker', 'node-1', 1.5, 8)
      story.tell(8.1, 'node-1', 'lost', { side: 'p' })
      expect(out(story, 9, 5).violations()).to.be.empty
    })

    it('The judge of semaphores finds permits that were gained while others are in use', () => {
      const story = permits(SEMAPHORE, 1, 2)
      expect(story.reads(3, 2).look(5).violations()).to.be.empty
      const gained = permits(SEMAPHORE, 1, 2)
      expect(gained.reads(3, 3).look(5).violations()).to.deep.equal(['permits'])
    })

    it('The judge of permits finds that those that are free and those in use are not all', () => {
      const sound = permits(PERMITS, 1, 1).reads(3, 3, 1).reads(4, 3, 1)
      expect(sound.look(6).violations()).to.be.empty
      const apart = permits(PERMITS, 1, 1).reads(3, 4, 1).reads(4, 4, 1)
      expect(apart.look(6).violations()).to.deep.equal(['permits'])
    })

    it('The judge of semaphores finds a waiter asleep before permits that are free', () => {
      const asleep = (free: number) => {
        const story = new Story(SEMAPHORE).tell(1, 'node-1', 'want', { side: 'p', units: 2 })
        return story.reads(2, free).look(3).reads(4, free).look(6).violations()
      }
      expect(asleep(1)).to.be.empty
      expect(asleep(2)).to.deep.equal(['asleep'])
    })

    it('The judge of semaphores knows what a killed process may have taken with it', () => {
      const story = permits(SEMAPHORE, 1, 2).tell(5, 'node-3', 'want', { side: 'p', units: 1 })
      for (const worker of ['node-1', 'node-3']) story.court.workerKilled(worker, 6 * SECOND)
      expect(story.court.capacity(SEMAPHORE).heldByKilled).to.deep.equal({ least: 1, most: 2 })
      // Its records may be read later.
      story.tell(5.9, 'node-3', 'in', { side: 'p' })
      expect(story.court.capacity(SEMAPHORE).heldByKilled).to.deep.equal({ least: 2, most: 2 })
    })
  })

  describe('Latches', () => {
    /** Set at 1 s for thirty, and counted down so often by 3 s. */
    const counted = (times: number) => {
      const story = new Story(LATCH).tell(1, 'node-1 setter', 'want', { side: 's' })
      story.tell(1.1, 'node-1 setter', 'free', { side: 's' })
      story.tell(1.5, 'node-2 waiter', 'want', { side: 'a' })
      for (let i = 0; i < times; i++) {
        const at = 2 + i / 40
        story
          .tell(at, 'node-1 counter', 'want', { side: 'd' })
          .tell(at + 0.01, 'node-1 counter', 'free', { side: 'd' })
      }
      return story
    }

    it('The judge of latches finds one that opens early, and not one that opens in time', () => {
      const opens = (times: number) =>
        counted(times).tell(3, 'node-2 waiter', 'in', { side: 'a' }).violations()
      expect(opens(30)).to.be.empty
      expect(opens(29)).to.deep.equal(['early'])
    })

    it('The judge of latches finds a count too low, or one that stays at zero', () => {
      const stands = (times: number, at: number) => counted(times).counts(3, at).look(5).violations()
      expect(stands(4, 26)).to.be.empty
      expect(stands(4, 25)).to.deep.equal(['early'])
      expect(stands(4, 27)).to.deep.equal(['never'])
      expect(stands(30, 1)).to.deep.equal(['never'])
    })

    it('The judge of latches finds a waiter that sleeps before an open latch', () => {
      const story = counted(30).counts(3, 0).look(4)
      expect(story.violations()).to.be.empty
      expect(story.counts(5, 0).look(6).violations()).to.deep.equal(['asleep'])
    })
  })

  it('A multi lock excludes those of one member; those of several wait without a share', () => {
    const story = new Story('chaos:multi-a').tell(1, 'node-1 several', 'in', { side: 'm' })
    story.tell(2, 'node-2', 'in').tell(3, 'node-1 several', 'out', { side: 'm' })
    expect(story.violations()).to.deep.equal(['overlap'])
  })

  const SCRIPTS: readonly (readonly [ObjectMutant, ScriptName])[] = [
    ['token-deletes-any', 'token-lock/release'],
    ['semaphore-forgets-requests', 'semaphore/release'],
    ['permit-unchecked', 'permit-expirable-semaphore/release'],
    ['latch-forgets-requests', 'count-down-latch/count-down'],
    ['latch-silent', 'count-down-latch/count-down'],
    ['fenced-token-repeats', 'fenced-lock/acquire'],
  ]
  for (const [mutant, name] of SCRIPTS)
    it(`The mutant ${mutant} finds in ${name} what it changes, and changes no other script`, () => {
      const sent: string[] = []
      const recording = {
        send: ({ script }: SentScript) => void sent.push(script.source),
      } as unknown as ScriptTransport
      const transport = mutatedObject(mutant).transport!(recording)
      const broken = script(name, String)
      const other = script('lock/release', String)
      for (const script of [broken, other])
        transport.send({ script, keys: ['key'], args: [] }, false, ignore, ignore)
      expect(sent[0]).to.not.equal(broken.source)
      expect(sent[1]).to.equal(other.source)
    })
})

import { expect } from 'chai'
import type { SentScript } from '../../../src/redis/send/command-connection'
import { type ScriptName, script } from '../../../src/scripts/script'
import type { ScriptTransport } from '../../../src/scripts/transport'
import { mutatedObject, type ObjectMutant } from '../../soak/chaos/worker/mutants'
import { Story } from './chaos-story'

const SEMAPHORE = 'chaos:semaphore@0'
const PERMITS = 'chaos:permits@0'
const LATCH = 'chaos:latch@0'

const ignore = () => {}

describe('The judge of a chaos run, of what is not a lock on one key', () => {
  describe('Fair locks', () => {
    const passed = () =>
      new Story('chaos:fair')
        .tell(0.5, 'node-1 first', 'want')
        .tell(1.5, 'node-2 second', 'want')
        .seen(2, ['c:1'], { queue: ['a:1', 'b:1'] })
        .tell(3, 'node-2 second', 'in', { owner: 'b:1' })
        .seen(3.05, ['b:1'], { queue: ['a:1'] })
        .leaves(3.1, 'node-2 second')
        .tell(4, 'node-1 first', 'in', { owner: 'a:1' })

    it('The chaos judge finds a caller of a fair lock that enters before a place ahead', () => {
      expect(passed().violations()).to.deep.equal(['fair-order'])
      expect(passed().fault('stall', 'node-1', 1.5, 2).violations()).to.be.empty
    })

    it('The chaos judge counts the places in the queues of fair locks that it saw', () => {
      const judged = { object: 'chaos:fair', what: 'places in the queue', times: 2 }
      expect(passed().judge.judged).to.deep.include(judged)
    })
  })

  describe('Fenced locks', () => {
    const drew = (first: number, second: number) =>
      new Story('chaos:fenced').turn(1, 'node-1', { token: first }).turn(2, 'node-2', { token: second })

    it('The chaos judge finds tokens of a fenced lock that do not rise', () => {
      expect(drew(5, 6).violations()).to.be.empty
      expect(drew(5, 5).violations()).to.include('token')
      expect(drew(5, 4).violations()).to.include('token')
      expect(drew(5, 1).fault('restart-empty', undefined, 1.5, 1.6).violations()).to.be.empty
    })
  })

  describe('Semaphores', () => {
    const permits = (lock: string, units: number, count: number) => {
      const story = new Story(lock)
      for (let i = 1; i <= count; i++) story.inside(i, `node-${i}`, { side: 'p', units })
      return story
    }

    it('The chaos judge finds more permits of a semaphore in use than there are', () => {
      expect(permits(SEMAPHORE, 2, 2).violations()).to.be.empty
      expect(permits(SEMAPHORE, 2, 3).violations()).to.include('permits')
      expect(permits(PERMITS, 2, 3).violations()).to.include('permits')
    })

    it('The chaos judge finds permits that were gained while others are in use', () => {
      const sound = new Story(SEMAPHORE)
        .seen(0.5, [], { value: 4 })
        .inside(1, 'node-1', { side: 'p', units: 2 })
      expect(sound.seen(3, [], { value: 2 }).violations()).to.be.empty
      const gained = permits(SEMAPHORE, 1, 2).seen(3, [], { value: 3 }).violations()
      expect(gained).to.include.members(['permits', 'not-linearizable'])
    })

    it('The chaos judge finds that permits that are free and those in use are not all', () => {
      const seen = (value: number) => permits(PERMITS, 1, 1).seen(3, ['id'], { value }).violations()
      expect(seen(3)).to.be.empty
      expect(seen(4)).to.deep.equal(['permits'])
    })

    it('The chaos judge finds a waiter asleep before permits that are free', () => {
      const asleep = (value: number) => {
        const story = permits(SEMAPHORE, 1, 4 - value).tell(4, 'node-9', 'want', { side: 'p', units: 2 })
        return story.seen(5, [], { value }).seen(9, [], { value }).violations()
      }
      expect(asleep(1)).to.be.empty
      expect(asleep(2)).to.deep.equal(['asleep'])
    })

    it('The chaos judge knows what a killed process may have taken with it', () => {
      const story = permits(SEMAPHORE, 1, 2).tell(5, 'node-3', 'want', { side: 'p', units: 1 })
      for (const worker of ['node-1', 'node-3']) story.killed(6, worker)
      expect(story.judge.heldByKilled(SEMAPHORE)).to.equal(2)
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

    it('The chaos judge finds a latch that opens early, and not one that opens in time', () => {
      const opens = (times: number) =>
        counted(times).tell(3, 'node-2 waiter', 'in', { side: 'a' }).violations()
      expect(opens(30)).to.be.empty
      expect(opens(29)).to.deep.equal(['not-linearizable'])
    })

    it('The chaos judge finds a count of a latch too low, or one that stays at zero', () => {
      const stands = (times: number, value: number) => counted(times).seen(3, [], { value }).violations()
      expect(stands(4, 26)).to.be.empty
      expect(stands(4, 25)).to.deep.equal(['not-linearizable'])
      expect(stands(4, 27)).to.deep.equal(['not-linearizable'])
      expect(stands(30, 1)).to.deep.equal(['not-linearizable'])
    })

    it('The chaos judge finds a waiter that sleeps before an open latch', () => {
      const open = (until: number) => counted(30).seen(3, [], { value: 0 }).seen(until, [], { value: 0 })
      expect(open(4).violations()).to.be.empty
      expect(open(7).violations()).to.deep.equal(['asleep'])
    })
  })

  it('A multi lock excludes those of one member', () => {
    const member = new Story('chaos:multi').inside(1, 'node-1 chaos:multi/1')
    member.inside(2, 'node-2', { lock: 'chaos:multi-a' })
    expect(member.violations()).to.deep.equal(['exclusion'])
    const other = new Story('chaos:multi').inside(1, 'node-1 chaos:multi/1')
    expect(other.inside(2, 'node-2', { lock: 'chaos:multi-c' }).violations()).to.be.empty
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

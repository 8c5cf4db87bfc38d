import type { Theme } from '../report/chart-themes'
import { Canvas } from './canvas'

export interface Picture {
  /** The file in docs/pictures/, without the theme. */
  readonly name: string
  /** What the picture shows, for a reader who does not see it. */
  readonly title: string
  draw(theme: Theme): Canvas
}

const lifeOfALease: Picture = {
  name: 'lease',
  title:
    'The life of a lease: acquired at 0 s, renewed at 10 s and 20 s. The process dies at 25 s. The key expires at 50 s, and a waiter enters.',
  draw: (theme) => {
    const x = (seconds: number) => 130 + seconds * 10
    const canvas = new Canvas(theme, 760, 250)
    for (let seconds = 0; seconds <= 60; seconds += 10)
      canvas
        .line(x(seconds), 34, x(seconds), 196, { dashed: true })
        .text(x(seconds), 214, `${seconds} s`, { size: 11, anchor: 'middle' })
    return canvas
      .text(10, 62, 'process 1', { bold: true })
      .bar(x(0), 45, 250, 'inside', 'blue')
      .text(x(25) + 4, 62, '✕ dies', { size: 12, colour: 'red' })
      .text(10, 112, 'key in Redis', { bold: true })
      .bar(x(0), 95, 500, 'the lock is held: 30 s from the last renewal', 'grey')
      .arrow(x(10), 71, x(10), 93, { colour: 'blue' })
      .arrow(x(20), 71, x(20), 93, { colour: 'blue' })
      .text(x(10) + 6, 86, 'renew', { size: 11 })
      .text(x(20) + 6, 86, 'renew', { size: 11 })
      .text(10, 162, 'process 2', { bold: true })
      .bar(x(5), 145, 450, 'waits: no command is sent', 'orange', { hatched: true })
      .bar(x(50), 145, 100, 'inside', 'orange')
      .arrow(x(50), 121, x(50), 143, { colour: 'orange' })
      .text(
        10,
        240,
        'If process 1 lives and cannot renew, its signal aborts at 49 s: before the key can expire.',
        { size: 12 },
      )
  },
}

const owners: Picture = {
  name: 'owner',
  title:
    'Who owns a lock: with withLock or acquire the hold, inside redisson.run the logical thread, with a threadId that number, else each acquisition by itself.',
  draw: (theme) => {
    const canvas = new Canvas(theme, 760, 268)
    const column = (at: number) => 10 + at * 188
    const kinds = [
      ['withLock, acquire', 'the owner is the hold', 'each request has its own', 'green'],
      ['inside redisson.run', 'the owner is the thread', 'nested calls re-enter', 'blue'],
      ['{ threadId: 7 }', 'the owner is the number', 'you keep it unique', 'purple'],
      ['lock() by itself', 'each call is an owner', 'nothing re-enters', 'orange'],
    ] as const
    for (const [at, [title, owner, effect, colour]] of kinds.entries()) {
      canvas
        .box(column(at), 16, 176, [title, owner, effect], colour)
        .bar(column(at) + 8, 110, 160, 'request A: inside', colour)
        .bar(column(at) + 8, 144, 160, 'request B: waits', 'grey', { hatched: true })
        .arrow(column(at) + 88, 88, column(at) + 88, 106, { colour })
    }
    return canvas
      .text(column(0) + 88, 194, 'safe', { anchor: 'middle', colour: 'green', bold: true })
      .text(column(1) + 88, 194, 'safe, as in Java', { anchor: 'middle', colour: 'green', bold: true })
      .text(column(2) + 88, 194, 'one number for one task', { anchor: 'middle' })
      .text(column(3) + 88, 194, 'unlock() only what', { anchor: 'middle' })
      .text(column(3) + 88, 212, 'you locked yourself', { anchor: 'middle' })
      .text(
        10,
        250,
        'Both requests use one lock object. In JavaScript one thread serves both, so the thread cannot be the owner.',
        { size: 12 },
      )
  },
}

const javaAndNode: Picture = {
  name: 'java-and-node',
  title:
    'Java and Node on one lock: Node holds it, Java listens to its channel. The release deletes the field and publishes a message, which wakes Java.',
  draw: (theme) =>
    new Canvas(theme, 760, 250)
      .box(10, 60, 180, ['Node: rlock', "getLock('order:42')", 'holds it'], 'blue')
      .box(570, 60, 180, ['Java: Redisson', 'getLock("order:42")', 'waits'], 'orange')
      .box(255, 20, 250, ['hash order:42', '<id of the Node client>:1 → 1', 'expires in 30 s'], 'grey')
      .box(255, 140, 250, ['channel', 'redisson_lock__channel:{order:42}', 'message: 0'], 'grey')
      .arrow(192, 80, 252, 56, { colour: 'blue' })
      .text(150, 44, '1 acquire', { size: 12 })
      .arrow(568, 80, 508, 56, { colour: 'orange' })
      .text(560, 44, '2 held: the time left', { size: 12 })
      .arrow(568, 118, 508, 160, { colour: 'orange' })
      .text(576, 144, '3 subscribe', { size: 12 })
      .arrow(192, 118, 252, 160, { colour: 'blue' })
      .text(80, 160, '4 release, publish', { size: 12 })
      .arrow(508, 192, 705, 134, { colour: 'green' })
      .text(610, 186, '5 wakes, and acquires', { size: 12 })
      .text(
        10,
        238,
        'Keys, values and messages are the same in both languages, so each side can hold, wait and wake.',
        { size: 12 },
      ),
}

const kinds: Picture = {
  name: 'kinds',
  title: 'Which lock for what, as a tree of questions from the usual case to the special ones.',
  draw: (theme) => {
    const canvas = new Canvas(theme, 760, 372)
    const questions = [
      ['Several at a time?', 'at most N callers', 'getPermitExpirableSemaphore', 'purple'],
      ['Readers beside each other?', 'many readers or one writer', 'getReadWriteLock', 'blue'],
      ['Strict order of arrival?', 'across processes', 'getFairLock', 'blue'],
      ['Must a late write be refused?', 'a token for your database', 'getFencedLock', 'blue'],
      ['Several names, all or none?', 'locked together', 'getMultiLock', 'blue'],
      ['Shared with SET NX locks?', 'redlock, redis-py, your own', 'getTokenLock', 'orange'],
    ] as const
    for (const [at, [question, why, getter, colour]] of questions.entries()) {
      const y = 12 + at * 50
      canvas.bar(20, y, 240, question, 'grey', { height: 30 })
      canvas.arrow(262, y + 15, 328, y + 15, { colour }).text(282, y + 10, 'yes', { size: 11 })
      canvas.bar(330, y, 220, getter, colour, { height: 30 }).text(562, y + 20, why, { size: 12 })
      canvas.arrow(140, y + 32, 140, y + 48).text(148, y + 46, 'no', { size: 11 })
    }
    return canvas
      .bar(20, 312, 240, 'getLock: the usual case', 'green', { height: 34 })
      .text(282, 334, 'one holder at a time; with redisson.run it re-enters', { size: 12 })
  },
}

const failovers: Picture = {
  name: 'failovers',
  title:
    'Three failovers: the promoted replica has the lock and it is kept; a lagging replica is promoted and the lock is lost; the primary is cut off together with the holder and two are inside.',
  draw: (theme) => {
    const canvas = new Canvas(theme, 760, 372)
    const lane = (y: number, title: string) => canvas.text(10, y, title, { bold: true })
    lane(22, '1  A replica acknowledged the lock, and is promoted: kept')
    canvas
      .bar(40, 34, 560, 'holder: inside', 'blue')
      .bar(40, 66, 220, 'primary', 'grey')
      .text(266, 84, '✕', { colour: 'red', bold: true })
      .bar(290, 66, 310, 'promoted replica: has the lock', 'green')
    lane(136, '2  Another replica, which lags, is promoted: lost, and noticed at the next renewal')
    canvas
      .bar(40, 148, 320, 'holder: inside', 'blue')
      .text(366, 166, 'signal aborts', { size: 12 })
      .bar(40, 180, 220, 'primary', 'grey')
      .text(266, 198, '✕', { colour: 'red', bold: true })
      .bar(290, 180, 310, 'lagging replica: no lock, another may enter', 'red')
    lane(250, '3  The primary is cut off together with the holder: two inside, until the network is back')
    return canvas
      .bar(40, 262, 560, 'holder and its primary: both go on', 'blue')
      .bar(290, 294, 310, 'promoted replica: another holder is inside', 'red')
      .line(290, 289, 290, 326, { dashed: true, colour: 'red' })
      .text(
        10,
        352,
        'min-replicas-to-write 1 and min-replicas-max-lag prevent the third: the old primary then refuses writes.',
        { size: 12 },
      )
  },
}

export const PICTURES: readonly Picture[] = [lifeOfALease, owners, javaAndNode, kinds, failovers]

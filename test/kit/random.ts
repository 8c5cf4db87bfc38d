import { uniformInt } from 'pure-rand/distribution/uniformInt'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'

/** Numbers that look random and are the same for the same seed. */
export class Random {
  private readonly generator

  constructor(seed: number) {
    this.generator = xoroshiro128plus(seed)
  }

  /** A whole number, both ends included. */
  between(from: number, to: number): number {
    return uniformInt(this.generator, from, to)
  }

  chance(percent: number): boolean {
    return this.between(1, 100) <= percent
  }

  pick<T>(from: readonly T[]): T {
    return from[this.between(0, from.length - 1)]!
  }
}

/** Every order is as likely as any other. */
export function shuffled<T>(items: readonly T[], random: Random): T[] {
  const left = [...items]
  return items.map(() => left.splice(random.between(0, left.length - 1), 1)[0]!)
}

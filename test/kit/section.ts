import { setTimeout as sleep } from 'node:timers/promises'

/** Counts who is inside a critical section together. */
export class Section {
  private inside = 0
  most = 0
  readonly order: number[] = []

  readonly enter = async (name = 0): Promise<void> => {
    this.order.push(name)
    this.most = Math.max(this.most, ++this.inside)
    await sleep(3)
    this.inside--
  }
}

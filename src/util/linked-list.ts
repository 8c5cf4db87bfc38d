/** An entry of a linked list. It is in one list at a time. */
export interface Linked<T> {
  before: T | undefined
  behind: T | undefined
}

/** A queue, first come, first served. The removal of an entry in the middle costs no more than that of the first. */
export class LinkedList<T extends Linked<T>> implements Iterable<T> {
  first: T | undefined
  private last: T | undefined

  add(item: T): void {
    item.before = this.last
    if (this.last) this.last.behind = item
    else this.first = item
    this.last = item
  }

  /** The item must be in the list. */
  remove(item: T): void {
    const { before, behind } = item
    if (before) before.behind = behind
    else this.first = behind
    if (behind) behind.before = before
    else this.last = before
    item.before = item.behind = undefined
  }

  /** The current entry may be removed during the iteration. */
  *[Symbol.iterator](): Iterator<T> {
    for (let item = this.first; item; ) {
      const { behind }: T = item
      yield item
      item = behind
    }
  }
}

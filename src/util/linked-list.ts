interface Linked<Item> {
  before: Item | undefined
  behind: Item | undefined
}

/** Items in the order in which they were added. The removal of any costs no more than that of the first. */
export class LinkedList<Item extends Linked<Item>> implements Iterable<Item> {
  first: Item | undefined
  private last: Item | undefined

  add(item: Item): void {
    item.before = this.last
    if (this.last) this.last.behind = item
    else this.first = item
    this.last = item
  }

  /** It must be among them. */
  remove(item: Item): void {
    const { before, behind } = item
    if (before) before.behind = behind
    else this.first = behind
    if (behind) behind.before = before
    else this.last = before
    item.before = item.behind = undefined
  }

  /** The current one may be removed during the iteration. */
  *[Symbol.iterator](): Iterator<Item> {
    for (let item = this.first; item; ) {
      const { behind }: Item = item
      yield item
      item = behind
    }
  }
}

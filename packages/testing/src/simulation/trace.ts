import { hash } from './choices'

/** What happened, as text, and its hash: two runs with the same hash did the same. */
export class Trace {
  readonly lines: string[] = []
  private one = 0x811c9dc5
  private other = 0x2545f491

  constructor(private readonly isRecorded = false) {}

  note(what: string, detail: string): void {
    this.one = hash(detail, hash(what, this.one))
    // The second half is of the lengths and the first half, so that an error in one half shows in the other.
    this.other = (Math.imul(this.other ^ this.one, 0x9e3779b1) + detail.length) | 0
    if (this.isRecorded) this.lines.push(`${what} ${detail}`)
  }

  get hash(): string {
    return [this.one, this.other].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('')
  }
}

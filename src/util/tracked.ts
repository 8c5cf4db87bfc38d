/** Keeps the work in `running` until it has settled, and returns it. */
export function tracked<T>(running: Set<Promise<unknown>>, work: Promise<T>): Promise<T> {
  running.add(work)
  return work.finally(() => running.delete(work))
}

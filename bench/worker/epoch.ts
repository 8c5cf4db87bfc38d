/** Milliseconds since the epoch, with a fraction: comparable between the processes of one machine. */
export function epochNow(): number {
  return performance.timeOrigin + performance.now()
}

/** One slow round trip, in ms. */
const ROUND_TRIP = 1_000

/** How long a call still accepts the answer to a try in flight after its wait is over, in ms. */
export function graceOf(hasReplicas: boolean, slavesSyncTimeout: number): number {
  return ROUND_TRIP + (hasReplicas ? slavesSyncTimeout : 0)
}

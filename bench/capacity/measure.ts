import { describeMachine, versions } from '../driver/machine'
import { Places } from '../driver/places'
import type { Command } from '../driver/worker-process'
import type { PartToMeasure } from './parts'
import type { CapacityResults } from './results'
import { RLOCK } from './surroundings'

export async function measureParts(
  parts: readonly PartToMeasure[],
  node: Command,
  command: string,
  onProgress: (text: string) => void,
): Promise<CapacityResults> {
  const places = new Places()
  try {
    const single = await places.single()
    const { "the peers' ioredis": _, ...ours } = await versions(single.servers[0]!, [RLOCK], undefined)
    const measured: Record<string, object> = {}
    for (const part of parts) {
      const machine = describeMachine()
      const found = await part.measure({ single, node, onProgress })
      measured[part.key] = { command, date: new Date().toISOString(), machine, versions: ours, ...found }
    }
    return measured
  } finally {
    await places.close()
  }
}

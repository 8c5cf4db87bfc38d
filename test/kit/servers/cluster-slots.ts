import type { Address } from './address'
import { withClient } from './with-client'

export const SLOT_COUNT = 16_384

const KEYS_AT_ONCE = 100
const MIGRATE_TIMEOUT_MS = 5000

export interface Primary extends Address {
  readonly id: string
}

/** The consecutive slots that the shard of this number owns at first. */
export function slotsOfShard(shard: number, shards: number): number[] {
  const from = Math.floor((SLOT_COUNT * shard) / shards)
  const to = Math.floor((SLOT_COUNT * (shard + 1)) / shards)
  return Array.from({ length: to - from }, (_, index) => from + index)
}

/**
 * Moves a slot with its keys while the cluster serves it: until the last step the source answers ASK for
 * keys that are gone, afterwards MOVED. `beforeSettling` runs between the two.
 */
export async function moveSlot(
  slot: number,
  source: Primary,
  target: Primary,
  others: readonly Address[],
  beforeSettling?: () => Promise<void>,
): Promise<void> {
  await command(target, 'CLUSTER', 'SETSLOT', slot, 'IMPORTING', source.id)
  await command(source, 'CLUSTER', 'SETSLOT', slot, 'MIGRATING', target.id)
  await moveKeys(slot, source, target)
  await beforeSettling?.()
  // The target first, so that at no moment everybody believes the slot to be with somebody else.
  for (const node of [target, source, ...others]) {
    await command(node, 'CLUSTER', 'SETSLOT', slot, 'NODE', target.id)
  }
}

async function moveKeys(slot: number, source: Address, target: Address): Promise<void> {
  await withClient(source, async (client) => {
    for (;;) {
      const keys = (await client.call('CLUSTER', 'GETKEYSINSLOT', slot, KEYS_AT_ONCE)) as string[]
      if (keys.length === 0) return
      await client.call('MIGRATE', target.host, target.port, '', 0, MIGRATE_TIMEOUT_MS, 'KEYS', ...keys)
    }
  })
}

const command = (node: Address, name: string, ...args: (string | number)[]): Promise<unknown> =>
  withClient(node, (client) => client.call(name, ...args))

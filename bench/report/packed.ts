import type { Figures, Trouble } from '../scenarios/scenario'

interface Measured {
  readonly figures: Figures
  readonly troubles: readonly Trouble[]
}

/** Measurements as a table: the names of the columns once, and a line for each measurement. */
export interface Packed {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly (string | number | null | readonly Trouble[])[])[]
}

/** No page, chart or target has these. */
const NOT_SHOWN = new Set([
  ...['waitP50Ms', 'waitMaxMs', 'serverUsPerSection', 'clientUsPerSection', 'serverCommandsPerSection'],
  ...['delayP99Ms', 'delayMaxMs', 'heapPerLock', 'heapPerWaiter', 'takenPerSecond'],
])

/** `keys`: the names of what tells one measurement from another. */
export function pack<T extends Measured>(
  measured: readonly T[],
  keys: readonly (keyof T & string)[],
): Packed {
  const names = [...new Set(measured.flatMap(({ figures }) => Object.keys(figures)))]
  const shown = names.filter((name) => !NOT_SHOWN.has(name))
  const rows = measured.map((one) => [
    ...keys.map((key) => one[key] as string | number),
    ...shown.map((name) => one.figures[name] ?? null),
    ...(one.troubles.length > 0 ? [one.troubles] : []),
  ])
  return { columns: [...keys, ...shown], rows }
}

export function unpack<T extends Measured>(
  { columns, rows }: Packed,
  keys: readonly (keyof T & string)[],
): T[] {
  return rows.map((row) => {
    const figures = columns
      .slice(keys.length)
      .flatMap((name, at) => (row[keys.length + at] === null ? [] : [[name, row[keys.length + at]]]))
    return {
      ...Object.fromEntries(keys.map((key, at) => [key, row[at]])),
      figures: Object.fromEntries(figures),
      troubles: row[columns.length] ?? [],
    } as unknown as T
  })
}

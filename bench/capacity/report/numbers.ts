/** `68,303` */
export function count(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

/** For sentences: two digits are what such a figure is worth. `68,000` */
export function about(value: number): string {
  return Number(value.toPrecision(2)).toLocaleString('en-US')
}

/** What a whole core would do, by what the used part of it did. */
export function perCore(rate: number, cores: number): number {
  return rate / cores
}

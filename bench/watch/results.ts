/** What bench/watch/run.ts writes into bench/results/watch.json. */
export interface WatchResults {
  readonly command: string
  readonly seconds: number
  /** Seconds between two values. */
  readonly step: number
  readonly plants: readonly { readonly title: string; readonly from: number; readonly to: number }[]
  /** By the titles of the dashboard's panels. */
  readonly panels: Readonly<Record<string, readonly WatchSeries[]>>
}

export interface WatchSeries {
  readonly title: string
  /** One at each step; null where there is none, for instance of a process without calls. */
  readonly values: readonly (number | null)[]
}

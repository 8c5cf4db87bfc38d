/** The Redissons that must work beside ours; PROTOCOL facts differ between each two of them. */
export const REDISSON_VERSIONS = {
  oldest: '3.16.8',
  middle: '3.27.2',
  last3: '3.52.0',
  newest: '4.7.0',
} as const

export const ALL_REDISSON_VERSIONS: readonly string[] = Object.values(REDISSON_VERSIONS)

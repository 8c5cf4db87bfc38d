/** A pattern of KEYS and PUBSUB CHANNELS: stars, question marks, sets of characters, and backslashes before those. */
export function glob(pattern: string): RegExp {
  const source = pattern.replace(
    /\\(.)|(\*)|(\?)|(\[[^\]]*\])|([^\\*?[])|(.)/gs,
    (_, escaped, star, one, set, plain, odd) => {
      if (star) return '.*'
      if (one) return '.'
      if (set) return set.replace(/\\(?!\])/g, '\\\\')
      return (escaped ?? plain ?? odd).replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')
    },
  )
  return new RegExp(`^${source}$`, 's')
}

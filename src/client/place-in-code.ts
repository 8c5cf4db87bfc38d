const FRAMES = 40

/** Read once: every acquisition asks. */
export const IS_DEVELOPMENT = process.env.NODE_ENV === 'development'

/** Where the code of the user called this package: the first frame behind those of the package. */
export function placeInCode(): string {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = FRAMES
  const frames = (new Error().stack ?? '').split('\n').slice(1)
  Error.stackTraceLimit = stackTraceLimit
  // The folder of this package: src/ or dist/.
  const own = /\(?((?:file:\/\/)?\/[^()]*?|[A-Za-z]:[^()]*?)(?:client[\\/][^\\/]*)?:\d+:\d+\)?$/.exec(
    frames[0] ?? '',
  )
  const folder = own?.[1]?.replace(/[^\\/]*$/, '')
  const outside = frames.find(
    (frame) => !frame.includes(folder ?? '\0') && !/\bnode:|\((<anonymous>|index \d+)\)/.test(frame),
  )
  return outside?.trim().replace(/^at (async )?/, '') ?? 'an unknown place'
}

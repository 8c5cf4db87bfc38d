const LOCATION = /\(?([^\s()]*):\d+:\d+\)?$/

/** The line of the stack that called the file in which the error was made; for warnings. */
export function placeOf({ stack = '' }: Error): string {
  const fileOf = (line: string) => LOCATION.exec(line)?.[1] ?? 'node:'
  const [own = '', ...callers] = stack.split('\n    ').slice(1)
  return callers.find((line) => !fileOf(line).startsWith('node:') && fileOf(line) !== fileOf(own)) ?? own
}

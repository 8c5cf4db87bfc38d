/** What a program was asked for; where that was help, or makes no sense, says so and ends the process. */
export function optionsOrExit<T>(parse: (args: string[]) => T | undefined, usage: string): T {
  try {
    const options = parse(process.argv.slice(2))
    if (options !== undefined) return options
    console.log(usage)
    process.exit(0)
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`)
    process.exit(2)
  }
}

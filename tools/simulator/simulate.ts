import { WORKER, workForParent } from './jobs/pool'
import { parseOptions, type SimulatorOptions, USAGE } from './options'
import { writePage } from './report/results'
import { scenes } from './scenes'
import { replay, search, searchExhaustively } from './search'

async function main(): Promise<number> {
  let options: SimulatorOptions
  try {
    options = parseOptions(process.argv.slice(2), scenes)
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`)
    return 2
  }
  switch (options.command) {
    case 'help':
      console.log(USAGE)
      return 0
    case 'list':
      for (const { name, about } of scenes) console.log(`${name.padEnd(24)} ${about}`)
      return 0
    case 'page':
      return writePage()
    case 'exhaustive':
      return await searchExhaustively(options)
    case 'replay':
      return await replay(options)
    default:
      return await search(options)
  }
}

if (process.argv[2] === WORKER) workForParent()
else
  main().then(
    (code) => {
      process.exitCode = code
    },
    (error) => {
      console.error(error)
      process.exitCode = 2
    },
  )

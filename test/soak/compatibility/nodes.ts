// node --import tsx test/soak/compatibility/nodes.ts: parts of the suite with each Node that the package is said to work with.

import { optionsOrExit } from '../../kit/cli'
import { nodeBinary, systemServer } from './fetch/binaries'
import { PARTS, parseOptions, usage } from './options'
import { main, runAll, runMocha, today } from './run/mocha-run'
import { NODES, type NodeSubject } from './subjects'

const options = optionsOrExit((args) => parseOptions(args, NODES), usage('nodes', NODES))
const { subjects, parts, jobs, list } = options

async function listNodes(): Promise<number> {
  for (const subject of subjects)
    console.log(`${subject.name}  ${(await nodeBinary(subject)).version} from npm node@${subject.name}`)
  for (const { name, title } of parts) console.log(`${name}: ${title}`)
  return 0
}

const runNodes = () =>
  runAll<NodeSubject>({
    kind: 'nodes',
    all: NODES,
    subjects,
    rows: parts,
    beside: 'Redis',
    isWhole: parts.length === PARTS.length,
    runOne: async (subject, progress) => {
      const { name, title } = subject
      const { path, version } = await nodeBinary(subject)
      const server = await systemServer()
      const outcome = await runMocha({
        node: path,
        server: server.path,
        parts,
        jobs,
        log: `node-${name}.log`,
        onProgress: progress.show,
        onFailure: progress.failed,
      })
      const from = `npm node@${name}`
      return { name, title, version, from, beside: server.version, date: today(), ...outcome }
    },
  })

main(list ? listNodes : runNodes)

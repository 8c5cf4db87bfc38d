// node --import tsx test/soak/compatibility/servers.ts: parts of the suite on each server that the package is said to work with.

import { optionsOrExit } from '../../kit/cli'
import { serverBinary } from './fetch/binaries'
import { PARTS, parseOptions, usage } from './options'
import { main, runAll, runMocha, today } from './run/mocha-run'
import { SERVERS, type ServerSubject } from './subjects'

const options = optionsOrExit((args) => parseOptions(args, SERVERS), usage('servers', SERVERS))
const { subjects, parts, jobs, list } = options

async function listServers(): Promise<number> {
  for (const subject of subjects) {
    const { version, from } = await serverBinary(subject)
    console.log(`${subject.name}  ${subject.title}: ${version} from ${from}`)
  }
  for (const { name, title } of parts) console.log(`${name}: ${title}`)
  return 0
}

const runServers = () =>
  runAll<ServerSubject>({
    kind: 'servers',
    all: SERVERS,
    subjects,
    rows: parts,
    beside: 'Node',
    isWhole: parts.length === PARTS.length,
    runOne: async (subject, progress) => {
      const { name, title } = subject
      const { path, version, from } = await serverBinary(subject)
      const outcome = await runMocha({
        node: process.execPath,
        server: path,
        parts,
        jobs,
        log: `server-${name}.log`,
        onProgress: progress.show,
        onFailure: progress.failed,
      })
      return { name, title, version, from, beside: process.versions.node, date: today(), ...outcome }
    },
  })

main(list ? listServers : runServers)

import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { expect } from 'chai'
import { waitUntil } from '../../../test/kit/servers'
import { keepCoresAwake } from '../../driver/awake-cores'

/** The number of SCHED_IDLE, of which Linux tells in the 41st field. */
const IDLE = '5'

function schedulingClassOf(pid: number): string | undefined {
  // The name of the program, which may have blanks, is the second field.
  return readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ')[38]
}

describe('Cores that are kept awake', () => {
  it('Each core has a process of the idle class, until they may sleep', async function () {
    if (process.platform !== 'linux') this.skip()
    const { pids, letSleep } = await keepCoresAwake()
    try {
      expect(pids).to.have.lengthOf(availableParallelism())
      await waitUntil('each is of the idle class', () => pids.every((pid) => schedulingClassOf(pid) === IDLE))
    } finally {
      await letSleep()
    }
    for (const pid of pids) expect(() => process.kill(pid, 0)).to.throw('ESRCH')
  })
})

import { availableParallelism, constants, getPriority } from 'node:os'
import { expect } from 'chai'
import { keepCoresAwake } from '../../driver/awake-cores'

describe('Cores that are kept awake', () => {
  it('Each core has a process of the lowest priority, until they may sleep', async () => {
    const { pids, letSleep } = keepCoresAwake()
    try {
      expect(pids).to.have.lengthOf(availableParallelism())
      expect(pids.map((pid) => getPriority(pid))).to.deep.equal(
        pids.map(() => constants.priority.PRIORITY_LOW),
      )
    } finally {
      await letSleep()
    }
    for (const pid of pids) expect(() => process.kill(pid, 0)).to.throw('ESRCH')
  })
})

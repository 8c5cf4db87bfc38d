import { closeAll } from '../../kit/clients'
import { openUntilTheEnd } from '../../kit/closing'
import type { Answering } from './lossy-link'
import { type Case, Matrix } from './matrix'
import { openCluster, openSentinel, openStandalone, type Setting } from './setting'

const SETTINGS = {
  standalone: openStandalone,
  'in a cluster': openCluster,
  'behind Sentinel': openSentinel,
} as const

const ANSWERED = { resend: 'sent again at once', reconnect: 'sent again after a while' }

export interface Table {
  readonly where: keyof typeof SETTINGS
  readonly of: Answering
  readonly cases: readonly Case[]
}

/** Every case, with a reply lost in every way, against the same without a fault. */
export function describeTable(title: string, { where, of, cases }: Table): void {
  describe(`${title}, ${where} (C1, C2)`, () => {
    let setting: Setting
    const matrix = new Matrix(() => setting, of)

    before(async () => {
      setting = await SETTINGS[where]()
      matrix.start(cases, ['none', 'resend', 'reconnect'])
    })
    after(async () => {
      await matrix.settled()
      await closeAll()
      await setting.stop()
    })
    openUntilTheEnd()

    for (const each of cases)
      for (const how of ['resend', 'reconnect'] as const)
        if (how !== 'resend' || !each.meanwhile)
          it(`${each.script}, ${each.state}: ${ANSWERED[how]}`, () => matrix.compare(each, how))
  })
}

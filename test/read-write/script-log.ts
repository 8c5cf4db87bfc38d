import { type ScriptSent, tapped } from '../support/tapped-transport'

/** Notes the scripts of a client, and lets them pass. */
export class ScriptLog {
  readonly sent: ScriptSent[] = []
  readonly transport = tapped((sent) => {
    this.sent.push(sent)
    return sent.pass()
  })

  count(name: string): number {
    return this.sent.filter((each) => each.name === name).length
  }
}

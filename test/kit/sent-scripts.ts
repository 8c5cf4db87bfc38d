import { type ScriptSent, tapped } from './tapped-transport'

/**
 * Notes every script that a client sends, so that a test can tell "asked the server" from "answered here". Hand its
 * `transport` to createRedisson; the scripts go to the real server.
 */
export class SentScripts {
  readonly sent: ScriptSent[] = []
  readonly names: string[] = []
  readonly transport = tapped((sent) => {
    this.sent.push(sent)
    this.names.push(sent.name)
    return sent.pass()
  })

  count(name: string): number {
    return this.names.filter((each) => each === name).length
  }
}

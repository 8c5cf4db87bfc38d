import { expect } from 'chai'
import { refused, unavailable, wrongType } from '../../../src/scripts/call-errors'
import { type ScriptName, script } from '../../../src/scripts/script'

const CLIENT = 'a1b2c3d4-0000-8000-8000-000000000000'

/** A call that was never sent. */
function call(name: ScriptName) {
  return {
    ...{ script: script(name, Number), keys: ['order:42'], age: 10_000.4 },
    environment: { clientAndServer: CLIENT },
    ...{ mayHaveBeenApplied: false, lastError: undefined },
  }
}

describe('The errors of script calls', () => {
  const closed = new Error('Connection is closed')

  it('An unanswered call names the script, the key, the client, the cause and the way out', () => {
    const inFlight = { ...call('lock/acquire'), mayHaveBeenApplied: true, lastError: closed }
    expect(unavailable(inFlight).message).to.equal(
      `Redis did not answer lock/acquire for the key "order:42" within 10000 ms (client ${CLIENT}): Connection is closed. ` +
        'The call may have been applied. Check the connection to Redis.',
    )
  })

  it('An unanswered call that was never sent does not say that it may have been applied', () => {
    expect(unavailable(call('lock/acquire')).message).to.equal(
      `Redis did not answer lock/acquire for the key "order:42" within 10000 ms (client ${CLIENT}). ` +
        'Check the connection to Redis.',
    )
  })

  it('A call that a server without Lua refuses says that, and not that rights are missing', () => {
    for (const said of [
      "ERR unknown command 'evalsha', with args",
      "ERR Could not find scripting engine 'lua'",
    ]) {
      const { message } = refused(call('lock/acquire'), new Error(said))
      expect(message).to.contain('The server runs no Lua scripts').and.not.contain('rights')
    }
  })

  it('A refused call names the key, the client and the rights that are missing', () => {
    const noCommand = new Error("NOPERM User eve has no permissions to run the 'evalsha' command")
    expect(refused(call('lock/acquire'), noCommand).message).to.equal(
      `Redis refused lock/acquire for the key "order:42" (client ${CLIENT}): ${noCommand.message}. ` +
        'Check the credentials and the rights of the Redis user.',
    )
    const noKey = new Error('NOPERM No permissions to access a key')
    expect(refused(call('lock/acquire'), noKey).message).to.match(
      /access a key\. The user needs ~order:42\.$/,
    )
  })

  it('A key that holds something else is named with the client and the way out', () => {
    const wrong = new Error('WRONGTYPE Operation against a key holding the wrong kind of value')
    expect(wrongType(call('lock/acquire'), wrong).message).to.equal(
      `The key "order:42" holds something other than an object of this kind (client ${CLIENT}). ` +
        'Use another name, or the getter of the kind that the key holds.',
    )
  })
})

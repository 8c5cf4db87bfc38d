import { type Runnable, type Runner, reporters } from 'mocha'
import { EVENT_MARK, type TestEvent } from './events'

/** A reporter of mocha that writes one line for each test, for the program that started mocha. */
module.exports = class EventReporter extends reporters.Base {
  constructor(runner: Runner, options?: Mocha.MochaOptions) {
    super(runner, options)
    const placeOf = (test: Runnable) => ({ file: test.file, title: test.fullTitle() })
    runner.on('pass', (test) => say({ kind: 'pass', ...placeOf(test), ms: test.duration }))
    runner.on('pending', (test) => say({ kind: 'pending', ...placeOf(test) }))
    runner.on('fail', (test, error) => {
      const { message, stack } = error as Error
      say({ kind: 'fail', ...placeOf(test), message: String(stack ?? message) })
    })
    runner.once('end', () => say({ kind: 'end' }))
  }
}

// A line of its own, also where a test has written the beginning of one.
const say = (event: TestEvent) => process.stdout.write(`\n${EVENT_MARK}${JSON.stringify(event)}\n`)

import { expect } from 'chai'

/** What a call that must fail rejects with. */
export async function failureOf(call: Promise<unknown>): Promise<Error> {
  const error = await call.then(
    () => undefined,
    (reason) => reason,
  )
  expect(error, 'the call must fail').to.be.instanceOf(Error)
  return error
}

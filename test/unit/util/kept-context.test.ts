import { createHook } from 'node:async_hooks'
import { expect } from 'chai'
import { inThisContext } from '../../../src/util/async-context'

describe('An async context that the package keeps', () => {
  it('A kept context is no open handle for tools that look for those, such as jest', () => {
    const handles: { hasRef(): boolean }[] = []
    const hook = createHook({
      init(_id, type, _trigger, resource) {
        // jest asks the resource at this moment whether it has the method.
        if (type === 'RLOCK' && 'hasRef' in resource) handles.push(resource as (typeof handles)[0])
      },
    }).enable()
    inThisContext(() => {})
    hook.disable()
    expect(handles.map((handle) => handle.hasRef())).to.deep.equal([false])
  })
})

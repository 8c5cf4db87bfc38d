import { createRequire } from 'node:module'

type Package = typeof import('../../src/index')

/** A second copy of the package in this process, as two versions in node_modules are. */
export function loadAnotherCopy(): Package {
  const require = createRequire(__filename)
  const entry = require.resolve('../../src/index')
  const isOurs = (path: string) => /[\\/]src[\\/]/.test(path) && !path.includes('node_modules')
  const kept = Object.entries(require.cache).filter(([path]) => isOurs(path))
  for (const [path] of kept) delete require.cache[path]
  const copy = require(entry) as Package
  for (const path of Object.keys(require.cache)) if (isOurs(path)) delete require.cache[path]
  for (const [path, loaded] of kept) require.cache[path] = loaded
  return copy
}

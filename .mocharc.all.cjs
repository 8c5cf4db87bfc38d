// All tests of `npm test`. Files of one folder often wait for the same: failovers, leases, processors. So the order mixes the folders, and
// is the same each time.
const { createHash } = require('node:crypto')
const { lookupFiles } = require('mocha/lib/cli/lookup-files')

const FOLDERS = ['test', 'compat', 'bench/test/unit', 'demo/test/unit', 'tools', 'packages/*/test']
const LONGER = ['test/soak/**/*.test.ts', 'compat/fairness-*.test.ts']

const files = FOLDERS.flatMap((folder) => lookupFiles(`${folder}/**/*.test.ts`))
const place = (file) => createHash('md5').update(file).digest('hex')

module.exports = {
  ...require('./.mocharc.cjs'),
  spec: files
    .map((file) => [place(file), file])
    .sort()
    .map(([, file]) => file),
  ignore: LONGER,
}

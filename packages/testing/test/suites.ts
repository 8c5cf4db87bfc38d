// node --import tsx packages/testing/test/suites.ts: the suites of every lock, semaphore and latch, with no other server than the one in memory.
import { spawn } from 'node:child_process'
import { join } from 'node:path'

const ROOT = join(__dirname, '../../..')

/** Of the semaphores and the latch. */
const SYNCHRONIZERS = [
  'count-down-latch',
  'permit-expirable-semaphore',
  'permits-by-id',
  'rate-limiter',
  'request-record',
  'semaphore',
].map((file) => `test/synchronizers/${file}.test.ts`)

/** With the contract suites of each kind. Not here: what needs five servers, a cluster, users, or the clients of others. */
const LOCKS = [
  'fair-lock-crowd',
  'fair-lock-healing',
  'fair-lock-others',
  'fair-lock-places',
  'fair-lock-queue',
  'fair-lock',
  'fenced-lock',
  'lock',
  'multi-lock',
  'non-reentrant-lock',
  'read-lock',
  'run-once',
  'spin-lock',
  'token-lock-lost-replies',
  'token-lock',
  'write-lock',
].map((file) => `test/locks/${file}.test.ts`)

/** Beside their contract suites. Not here: what needs users, DUMP or streams. */
const READ_WRITE = [
  'counts-of-strangers',
  'force-release',
  'model',
  'objects',
  'queues',
  'reader-tries',
  'readers',
  'renewal',
  'resent',
  'step-down',
  'transitions',
].map((file) => `test/read-write/${file}.test.ts`)

/** The limits of every kind of lock, and of permits. */
const LIMITS = ['test/leases/max-hold-time.test.ts']

/** Those of @rlock/recipes that need no other server. */
const RECIPES = ['elect', 'idempotency-key', 'once', 'scripts', 'take-slot'].map(
  (file) => `packages/recipes/test/${file}.test.ts`,
)

const FILES = [...LOCKS, ...READ_WRITE, ...SYNCHRONIZERS, ...LIMITS, ...RECIPES]
const mocha = spawn(process.execPath, [require.resolve('mocha/bin/mocha.js'), ...FILES], {
  cwd: ROOT,
  env: { ...process.env, RLOCK_TEST_IN_MEMORY: '1' },
  stdio: 'inherit',
})
mocha.on('close', (code) => process.exit(code ?? 1))

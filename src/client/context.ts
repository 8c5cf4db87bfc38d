/** What a lock, a semaphore or a latch knows of its client. */
export type { Client as Context } from './client'

import { join } from 'node:path'

const REPOSITORY = join(__dirname, '../../../..')

export const inRepository = (...path: string[]): string => join(REPOSITORY, ...path)

/** Git ignores it. Binaries that were fetched once stay there, and so do the logs of the runs. */
export const inCache = (...path: string[]): string => inRepository('.tmp', 'compatibility', ...path)

/** Where a server listens. */
export interface Address {
  readonly host: string
  readonly port: number
}

export const sameAddress = (a: Address, b: Address): boolean => a.host === b.host && a.port === b.port

export const describeAddress = ({ host, port }: Address): string => `${host}:${port}`

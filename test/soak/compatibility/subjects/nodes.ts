/** A major version of Node to run the parts with. Packages of npm carry the binaries. */
export interface NodeSubject {
  readonly name: string
  readonly title: string
}

export const NODES: readonly NodeSubject[] = ['20', '22', '24', '26'].map((name) => ({
  name,
  title: `Node ${name}`,
}))

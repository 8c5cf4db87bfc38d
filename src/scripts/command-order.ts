/** The numbers that a client gave to a command and to its answer, among all its commands and answers. */
export interface CommandOrder {
  readonly sentAs: number
  readonly answeredAs: number
}

/** The client answers itself. */
export const NO_COMMAND: CommandOrder = { sentAs: 0, answeredAs: 0 }

// The part of its declarations that the example uses, so that the example is checked where the package is not installed.
declare module 'node-cron' {
  export interface RunCoordinator {
    shouldRun(key: string, lease: number): boolean | Promise<boolean>
  }
  export function setRunCoordinator(coordinator: RunCoordinator): void
  export function schedule(
    expression: string,
    fn: () => unknown,
    options: { name: string; distributed: boolean; distributedLease?: number },
  ): { on(event: 'execution:skipped', listener: () => void): unknown }
  export function shutdown(): Promise<void>
}

/** As much of sql.js as the example uses; the package brings no types. */
declare module 'sql.js' {
  interface Database {
    run(sql: string, values?: readonly (string | number)[]): Database
    exec(sql: string): { values: (string | number)[][] }[]
    /** How many rows the last statement changed. */
    getRowsModified(): number
  }
  export default function initSqlJs(): Promise<{ Database: new () => Database }>
}

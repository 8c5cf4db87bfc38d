// A candidate that prints the time and its term whenever it finds that it leads.
// Arguments: the URL of the server, the name of the election, its label, the watchdog timeout in ms. The line "resign" resigns.
import { createInterface } from 'node:readline'
import { Redisson } from '../../../../src/index'
import { elect } from '../../src/index'

async function main() {
  const [redis, name, label, lockWatchdogTimeout] = process.argv.slice(2)
  const redisson = await Redisson.create({ redis: redis!, lockWatchdogTimeout: Number(lockWatchdogTimeout) })
  redisson.on('error', () => {})
  const election = elect(redisson, name!, { label: label! })
  createInterface({ input: process.stdin }).on('line', () => void election.resign())
  console.log('stands')
  setInterval(() => {
    // The process may be stopped between any two of these: the time is from before the look.
    const time = Date.now()
    const { term } = election
    if (term !== undefined) console.log(`${time} ${term}`)
  }, 5)
}

void main()

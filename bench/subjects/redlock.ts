import Redlock from 'redlock'
import { openRedlock } from './both-redlocks'

export const open = openRedlock((client) => new Redlock([client]))

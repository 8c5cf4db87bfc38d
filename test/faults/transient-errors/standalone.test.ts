import { busy, loading, readonly } from './standalone'
import { describeTrouble } from './table'

describeTrouble('LOADING', loading)
describeTrouble('READONLY', readonly)
describeTrouble('BUSY', busy)

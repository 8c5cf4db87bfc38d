import { clusterDown } from './cluster'
import { describeTrouble } from './table'

describeTrouble('CLUSTERDOWN', clusterDown)

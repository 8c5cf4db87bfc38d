export { type InMemoryRedis, type InMemoryRedisOptions, inMemoryRedis } from './in-memory-redis'
export type { SimulationFaults } from './simulation/faults'
export { type SimulatedClient, type Simulation, SimulationError, simulate } from './simulation/simulate'

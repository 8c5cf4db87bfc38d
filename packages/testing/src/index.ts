export { type InMemoryRedis, type InMemoryRedisOptions, inMemoryRedis } from './in-memory-redis'

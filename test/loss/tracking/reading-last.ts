/**
 * A write makes the server forget who had read the key, the writer too: to be told of the next change, the script
 * that takes a lock must read it once more.
 */
export function readingLast(acquire: string): string {
  const write = "redis.call('pexpire', KEYS[1], ARGV[2])\n  return nil"
  if (!acquire.includes(write)) throw new Error('the script is not the one this was made for')
  return acquire.replace(write, write.replace('\n', "\n  redis.call('exists', KEYS[1])\n"))
}

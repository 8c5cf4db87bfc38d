return redis.call('publish', KEYS[1], ARGV[1])

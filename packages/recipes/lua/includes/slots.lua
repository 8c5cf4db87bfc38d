-- The numbers in use: a sorted set with two members for each owner. The owner has its number as its score. `<owner>:lease` has
-- the end of its lease, by the server's clock in ms. Numbers are below 10,000, and times are far above, so both fit in one set.
--
-- FIRST_LEASE: the least score of a lease.
-- keep(key, owner, number, leaseEnd): sets both members, and lets the key expire with its last lease.

local FIRST_LEASE = 1000000

local function keep(key, owner, number, leaseEnd)
  redis.call('zadd', key, number, owner, leaseEnd, owner .. ':lease')
  redis.call('pexpireat', key, redis.call('zrange', key, -1, -1, 'withscores')[2])
end

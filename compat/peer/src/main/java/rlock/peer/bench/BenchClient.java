package rlock.peer.bench;

import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson as it is without any setting: only where Redis is was chosen. */
final class BenchClient {
    private BenchClient() {
    }

    static RedissonClient connect(BenchOrder order) {
        Config config = new Config();
        if (order.cluster() != null) {
            config.useClusterServers().addNodeAddress(order.cluster().toArray(String[]::new));
        } else {
            config.useSingleServer().setAddress(order.redis());
        }
        return Redisson.create(config);
    }
}

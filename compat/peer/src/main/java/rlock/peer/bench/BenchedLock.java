package rlock.peer.bench;

import java.util.function.Supplier;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** A lock as a user calls it, with a look at whether it does what it is for. */
final class BenchedLock {
    private final Entrance entrance;
    private final int weight;
    private final Crowd crowd;
    private final long holdMs;

    /** All locks of one name share a crowd; `weight` is what one that is inside weighs there. */
    BenchedLock(Entrance entrance, int weight, Crowd crowd, long holdMs) {
        this.entrance = entrance;
        this.weight = weight;
        this.crowd = crowd;
        this.holdMs = holdMs;
    }

    /** Answers whether somebody of this process who asked later came before. */
    boolean acquire() throws InterruptedException {
        long number = crowd.asks();
        entrance.acquire();
        return crowd.isLet(number);
    }

    /** Answers whether somebody was inside who should not have been. */
    boolean section() throws InterruptedException {
        boolean violated = crowd.enters(weight);
        if (holdMs > 0) {
            Thread.sleep(holdMs);
        }
        crowd.leaves(weight);
        return violated;
    }

    void release() {
        entrance.release();
    }
}

/** Gives the two sides in the proportion asked for; each caller begins at another place, so that not all write at once. */
final class SidesInTurn implements Supplier<BenchedLock> {
    private final BenchedLock read;
    private final BenchedLock write;
    private final BenchOrder order;
    private int turn;

    SidesInTurn(BenchedLock read, BenchedLock write, BenchOrder order, int firstTurn) {
        this.read = read;
        this.write = write;
        this.order = order;
        this.turn = firstTurn;
    }

    @Override
    public BenchedLock get() {
        return turn++ % (order.readers() + order.writers()) < order.readers() ? read : write;
    }
}

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

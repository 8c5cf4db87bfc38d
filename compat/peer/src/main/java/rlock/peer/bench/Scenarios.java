package rlock.peer.bench;

import java.util.Map;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.redisson.api.RLock;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RedissonClient;

/** What each scenario has its threads do. */
final class Scenarios {
    private Scenarios() {
    }

    static Map<String, Object> run(RedissonClient redisson, BenchOrder order, double startEpochMs)
        throws InterruptedException {
        MeasuredWindow window = MeasuredWindow.of(order, startEpochMs);
        return switch (order.scenario()) {
            case "throughput" -> new Flows(order, window, plain(redisson, order)).run();
            case "read-write" -> new Flows(order, window, readWrite(redisson, order)).run();
            case "hand-over" -> new HandOver(redisson.getLock(order.lockOf(0)), order, window).run();
            default -> throw new IllegalArgumentException("no such scenario: " + order.scenario());
        };
    }

    private static IntFunction<Supplier<RLock>> plain(RedissonClient redisson, BenchOrder order) {
        return flow -> {
            RLock lock = redisson.getLock(order.lockOf(flow));
            return () -> lock;
        };
    }

    private static IntFunction<Supplier<RLock>> readWrite(RedissonClient redisson, BenchOrder order) {
        return flow -> {
            RReadWriteLock lock = redisson.getReadWriteLock(order.lockOf(flow));
            return new SidesInTurn(lock, order.readers(), order.writers(), flow);
        };
    }
}

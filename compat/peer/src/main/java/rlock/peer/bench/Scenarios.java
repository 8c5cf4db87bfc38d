package rlock.peer.bench;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RedissonClient;

/** What each scenario has its threads do. */
final class Scenarios {
    private final Map<String, Crowd> crowds = new ConcurrentHashMap<>();
    private final RedissonClient redisson;
    private final BenchOrder order;

    Scenarios(RedissonClient redisson, BenchOrder order) {
        this.redisson = redisson;
        this.order = order;
    }

    Map<String, Object> run(double startEpochMs) throws InterruptedException {
        MeasuredWindow window = MeasuredWindow.of(order, startEpochMs);
        return switch (order.scenario()) {
            case "throughput" -> new Flows(order.flows(), window, this::plain).run();
            case "read-write" -> new Flows(order.flows(), window, this::readWrite).run();
            case "hand-over" -> new HandOver(redisson.getLock(order.lockOf(0)), order, window).run();
            default -> throw new IllegalArgumentException("no such scenario: " + order.scenario());
        };
    }

    private Supplier<BenchedLock> plain(int flow) {
        String name = order.lockOf(flow);
        BenchedLock lock = new BenchedLock(redisson.getLock(name), true, crowdOf(name), order.holdMs());
        return () -> lock;
    }

    private Supplier<BenchedLock> readWrite(int flow) {
        String name = order.lockOf(flow);
        RReadWriteLock lock = redisson.getReadWriteLock(name);
        return new SidesInTurn(
            new BenchedLock(lock.readLock(), false, crowdOf(name), order.holdMs()),
            new BenchedLock(lock.writeLock(), true, crowdOf(name), order.holdMs()),
            order,
            flow);
    }

    private Crowd crowdOf(String name) {
        return crowds.computeIfAbsent(name, absent -> new Crowd());
    }
}

package rlock.peer.bench;

import java.util.List;
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
            case "throughput" -> new Callers(order.callers(), window, this::plain).run();
            case "read-write" -> new Callers(order.callers(), window, this::readWrite).run();
            case "latch" -> new LatchWaiters(redisson, order).run();
            case "handoff" -> new Handoff(redisson.getLock(order.lockOf(0)), order, window).run();
            default -> throw new IllegalArgumentException("no such scenario: " + order.scenario());
        };
    }

    private Supplier<BenchedLock> plain(int caller) {
        String name = order.lockOf(caller);
        int weight = order.permits() == 0 ? Crowd.ALONE : Crowd.ALONE / order.permits();
        BenchedLock lock = new BenchedLock(Entrance.of(redisson, order, name), weight, crowdOf(name), order.holdMs());
        return () -> lock;
    }

    private Supplier<BenchedLock> readWrite(int caller) {
        String name = order.lockOf(caller);
        RReadWriteLock lock = redisson.getReadWriteLock(name);
        return new SidesInTurn(
            new BenchedLock(Entrance.of(lock.readLock()), 1, crowdOf(name), order.holdMs()),
            new BenchedLock(Entrance.of(lock.writeLock()), Crowd.ALONE, crowdOf(name), order.holdMs()),
            order,
            caller);
    }

    private Crowd crowdOf(String name) {
        return crowds.computeIfAbsent(name, absent -> new Crowd());
    }
}

/** The line that says what to measure. Numbers that it does not mention are 0, the rest null. */
record BenchOrder(
    String redis,
    List<String> cluster,
    String scenario,
    String object,
    int permits,
    String role,
    int callers,
    List<String> locks,
    long warmupMs,
    long measureMs,
    long holdMs,
    int readers,
    int writers) {

    String lockOf(int caller) {
        return locks.get(caller % locks.size());
    }
}

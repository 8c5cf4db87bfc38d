package rlock.peer.bench;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.redisson.api.RLock;

/** A lock as a user calls it, with a look at whether it does what it is for. */
final class BenchedLock {
    /** More than readers could ever add up to. */
    private static final int ALONE = 1 << 20;
    private final RLock lock;
    private final AtomicInteger inside;
    private final int weight;
    private final BenchOrder order;

    private BenchedLock(RLock lock, AtomicInteger inside, int weight, BenchOrder order) {
        this.lock = lock;
        this.inside = inside;
        this.weight = weight;
        this.order = order;
    }

    /** Those of one name share `inside`. */
    static BenchedLock exclusive(RLock lock, AtomicInteger inside, BenchOrder order) {
        return new BenchedLock(lock, inside, ALONE, order);
    }

    static BenchedLock shared(RLock lock, AtomicInteger inside, BenchOrder order) {
        return new BenchedLock(lock, inside, 1, order);
    }

    void acquire() {
        if (order.leaseMs() > 0) {
            lock.lock(order.leaseMs(), TimeUnit.MILLISECONDS);
        } else {
            lock.lock();
        }
    }

    /** Answers whether somebody was inside who should not have been. */
    boolean section() throws InterruptedException {
        int before = inside.getAndAdd(weight);
        if (order.holdMs() > 0) {
            Thread.sleep(order.holdMs());
        }
        inside.addAndGet(-weight);
        return weight == ALONE ? before > 0 : before >= ALONE;
    }

    void release() {
        lock.unlock();
    }
}

package rlock.peer.bench;

import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLongArray;
import org.redisson.api.RedissonClient;
import rlock.peer.EpochClock;

/** Threads that wait for one latch after another, and when the last of them went on at each. */
final class LatchWaiters {
    private final RedissonClient redisson;
    private final BenchOrder order;
    /** In whole microseconds since the epoch. */
    private final AtomicLongArray last;

    LatchWaiters(RedissonClient redisson, BenchOrder order) {
        this.redisson = redisson;
        this.order = order;
        this.last = new AtomicLongArray(order.locks().size());
    }

    Map<String, Object> run() throws InterruptedException {
        CountDownLatch done = new CountDownLatch(order.callers());
        for (int waiter = 0; waiter < order.callers(); waiter++) {
            Thread thread = new Thread(() -> {
                await();
                done.countDown();
            });
            thread.setDaemon(true);
            thread.start();
        }
        done.await();
        double[] lastMs = new double[last.length()];
        for (int latch = 0; latch < lastMs.length; latch++) {
            lastMs[latch] = last.get(latch) / 1e3;
        }
        return Map.of("last", lastMs);
    }

    private void await() {
        try {
            for (int latch = 0; latch < last.length(); latch++) {
                redisson.getCountDownLatch(order.locks().get(latch)).await();
                last.accumulateAndGet(latch, Math.round(EpochClock.millis() * 1e3), Math::max);
            }
        } catch (InterruptedException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}

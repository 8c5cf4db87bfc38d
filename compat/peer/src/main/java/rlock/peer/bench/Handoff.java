package rlock.peer.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLongArray;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import rlock.peer.EpochClock;

/** Takes turns with one other process at one lock, and notes when it let go and when it was inside. */
final class Handoff {
    private final List<Double> unlocks = new ArrayList<>();
    private final List<Double> entries = new ArrayList<>();
    private final RLock lock;
    private final BenchOrder order;
    private final MeasuredWindow window;

    Handoff(RLock lock, BenchOrder order, MeasuredWindow window) {
        this.lock = lock;
        this.order = order;
        this.window = window;
    }

    Map<String, Object> run() throws InterruptedException {
        window.awaitStart();
        if (order.role().equals("taker")) {
            stayAway();
        }
        while (!window.isOver(System.nanoTime())) {
            turn();
            stayAway();
        }
        return Map.of("unlocks", unlocks, "entries", entries);
    }

    /** Holds for so long that the other waits for certain, asleep. */
    private void turn() throws InterruptedException {
        lock.lock();
        double entered = EpochClock.millis();
        boolean counts = window.counts(System.nanoTime());
        Thread.sleep(order.holdMs());
        double letGo = EpochClock.millis();
        lock.unlock();
        if (counts) {
            entries.add(entered);
            unlocks.add(letGo);
        }
    }

    /** Half a hold: the other is inside by then, and we ask while it still holds. */
    private void stayAway() throws InterruptedException {
        Thread.sleep(Math.max(1, order.holdMs() / 2));
    }
}

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

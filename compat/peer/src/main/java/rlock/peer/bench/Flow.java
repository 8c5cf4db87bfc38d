package rlock.peer.bench;

import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.redisson.api.RLock;

/** One thread that goes through locks again and again until the window is over. */
final class Flow implements Runnable {
    private final Waits waits = new Waits();
    private final Supplier<RLock> nextLock;
    private final BenchOrder order;
    private final MeasuredWindow window;
    private long sections;
    private long errors;
    private String firstError;

    Flow(Supplier<RLock> nextLock, BenchOrder order, MeasuredWindow window) {
        this.nextLock = nextLock;
        this.order = order;
        this.window = window;
    }

    @Override
    public void run() {
        try {
            window.awaitStart();
            for (long asked = System.nanoTime(); !window.isOver(asked); asked = System.nanoTime()) {
                turn(nextLock.get(), asked);
            }
        } catch (InterruptedException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    long sections() {
        return sections;
    }

    long errors() {
        return errors;
    }

    /** Null when all went well. */
    String firstError() {
        return firstError;
    }

    Waits waits() {
        return waits;
    }

    private void turn(RLock lock, long asked) throws InterruptedException {
        try {
            acquire(lock);
            long entered = System.nanoTime();
            try {
                if (order.holdMs() > 0) {
                    Thread.sleep(order.holdMs());
                }
            } finally {
                lock.unlock();
            }
            if (window.counts(entered)) {
                sections++;
                waits.add(entered - asked);
            }
        } catch (RuntimeException failure) {
            errors++;
            if (firstError == null) {
                firstError = failure.toString();
            }
        }
    }

    private void acquire(RLock lock) {
        if (order.leaseMs() > 0) {
            lock.lock(order.leaseMs(), TimeUnit.MILLISECONDS);
        } else {
            lock.lock();
        }
    }
}

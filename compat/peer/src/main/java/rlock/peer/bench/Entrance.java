package rlock.peer.bench;

import org.redisson.api.RLock;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

/** What callers go in by: a lock, or a permit of a semaphore. */
interface Entrance {
    void acquire() throws InterruptedException;

    void release();

    /** The object that the order names; a plain lock where it names none. */
    static Entrance of(RedissonClient redisson, BenchOrder order, String name) {
        return switch (order.object() == null ? "lock" : order.object()) {
            case "lock" -> of(redisson.getLock(name));
            case "fair" -> of(redisson.getFairLock(name));
            case "semaphore" -> of(redisson.getSemaphore(name));
            default -> throw new IllegalArgumentException("no such object: " + order.object());
        };
    }

    static Entrance of(RLock lock) {
        return new Entrance() {
            @Override
            public void acquire() {
                lock.lock();
            }

            @Override
            public void release() {
                lock.unlock();
            }
        };
    }

    private static Entrance of(RSemaphore semaphore) {
        return new Entrance() {
            @Override
            public void acquire() throws InterruptedException {
                semaphore.acquire();
            }

            @Override
            public void release() {
                semaphore.release();
            }
        };
    }
}

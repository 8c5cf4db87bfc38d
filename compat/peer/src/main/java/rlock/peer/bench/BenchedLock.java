package rlock.peer.bench;

import org.redisson.api.RLock;

/** A lock as a user calls it, with a look at whether it does what it is for. */
final class BenchedLock {
    private final RLock lock;
    private final boolean exclusive;
    private final Crowd crowd;
    private final long holdMs;

    /** All locks of one name share a crowd; those that exclude only writers are not exclusive. */
    BenchedLock(RLock lock, boolean exclusive, Crowd crowd, long holdMs) {
        this.lock = lock;
        this.exclusive = exclusive;
        this.crowd = crowd;
        this.holdMs = holdMs;
    }

    /** Answers whether somebody of this process who asked later came before. */
    boolean acquire() {
        long number = crowd.asks();
        lock.lock();
        return crowd.isLet(number);
    }

    /** Answers whether somebody was inside who should not have been. */
    boolean section() throws InterruptedException {
        boolean violated = crowd.enters(exclusive);
        if (holdMs > 0) {
            Thread.sleep(holdMs);
        }
        crowd.leaves(exclusive);
        return violated;
    }

    void release() {
        lock.unlock();
    }
}

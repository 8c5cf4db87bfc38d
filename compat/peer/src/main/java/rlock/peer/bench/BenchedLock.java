package rlock.peer.bench;

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

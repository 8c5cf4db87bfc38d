package rlock.peer.bench;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Those of this process that use one lock: who is inside, and in which order they came. */
final class Crowd {
    /** More than readers could ever add up to. */
    private static final int ALONE = 1 << 20;
    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicLong asked = new AtomicLong();
    private final AtomicLong served = new AtomicLong();

    /** Numbers those who ask. */
    long asks() {
        return asked.incrementAndGet();
    }

    /** Answers whether somebody who asked later was let in before. */
    boolean isLet(long number) {
        return number < served.getAndAccumulate(number, Math::max);
    }

    /** Answers whether somebody is inside who should not be. */
    boolean enters(boolean alone) {
        int before = inside.getAndAdd(weight(alone));
        return alone ? before > 0 : before >= ALONE;
    }

    void leaves(boolean alone) {
        inside.addAndGet(-weight(alone));
    }

    private static int weight(boolean alone) {
        return alone ? ALONE : 1;
    }
}

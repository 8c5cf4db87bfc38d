package rlock.peer.bench;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Those of this process that use one lock: who is inside, and in which order they came. */
final class Crowd {
    /** What an owner weighs that keeps all others out: more than readers could ever add up to. */
    static final int ALONE = 1 << 20;
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

    /** Answers whether more are inside than may be: together they weigh more than one that is alone. */
    boolean enters(int weight) {
        return inside.addAndGet(weight) > ALONE;
    }

    void leaves(int weight) {
        inside.addAndGet(-weight);
    }
}

package rlock.peer;

import java.util.concurrent.ThreadLocalRandom;

/** The whiles that the threads of a contention let pass. */
final class Pauses {
    private Pauses() {
    }

    static void random(long[] range) throws InterruptedException {
        Thread.sleep(ThreadLocalRandom.current().nextLong(range[0], range[1] + 1));
    }

    /** While the lock is held: mostly "holdMs", in about one of "longHoldEvery" sections "longHoldMs". */
    static void hold(Command command) throws InterruptedException {
        long every = command.number("longHoldEvery", 0);
        boolean isLong = every > 0 && ThreadLocalRandom.current().nextLong(every) == 0;
        random(command.range(isLong ? "longHoldMs" : "holdMs"));
    }

    /** An unreachable server must not turn the loop into a busy one. */
    static void afterFailure() {
        try {
            Thread.sleep(50);
        } catch (InterruptedException unexpected) {
            Thread.currentThread().interrupt();
        }
    }
}

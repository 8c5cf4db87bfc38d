package rlock.peer.bench;

import java.util.function.Supplier;

/** One thread that goes through locks again and again until the window is over. */
final class Caller implements Runnable {
    /** A Redis that refuses at once must not make this a busy loop. */
    private static final long PAUSE_AFTER_ERROR_MS = 1;
    private final Supplier<BenchedLock> nextLock;
    private final MeasuredWindow window;
    private final CallerTally tally;

    Caller(Supplier<BenchedLock> nextLock, MeasuredWindow window) {
        this.nextLock = nextLock;
        this.window = window;
        this.tally = new CallerTally(window);
    }

    CallerTally tally() {
        return tally;
    }

    @Override
    public void run() {
        try {
            window.awaitStart();
            while (!window.isOver(System.nanoTime())) {
                turn(nextLock.get());
            }
        } catch (InterruptedException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private void turn(BenchedLock lock) throws InterruptedException {
        try {
            tally.asks();
            boolean overtaken = lock.acquire();
            tally.enters(overtaken);
            if (lock.section()) {
                tally.meetsAnother();
            }
            lock.release();
        } catch (RuntimeException failure) {
            tally.fails(failure);
            Thread.sleep(PAUSE_AFTER_ERROR_MS);
        }
    }
}

package rlock.peer.bench;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import rlock.peer.EpochClock;

/** When to begin, from when on it counts, and when to stop asking; in the terms of System.nanoTime(). */
record MeasuredWindow(long start, long from, long until) {
    /** The start is agreed on by the wall clock, which all processes of a run share. */
    static MeasuredWindow of(BenchOrder order, double startEpochMs) {
        long start = System.nanoTime() + Math.round((startEpochMs - EpochClock.millis()) * 1e6);
        long from = start + order.warmupMs() * 1_000_000;
        return new MeasuredWindow(start, from, from + order.measureMs() * 1_000_000);
    }

    void awaitStart() throws InterruptedException {
        sleepUntil(start);
    }

    void awaitEnd() throws InterruptedException {
        sleepUntil(until);
    }

    boolean isOver(long now) {
        return now - until >= 0;
    }

    boolean counts(long now) {
        return now - from >= 0 && now - until < 0;
    }

    private static void sleepUntil(long nanos) throws InterruptedException {
        TimeUnit.NANOSECONDS.sleep(nanos - System.nanoTime());
    }
}

/** How long one caller waited for each of its turns, in whole microseconds. Grows rarely, and boxes nothing. */
final class Waits {
    private int[] micros = new int[1 << 16];
    private int count;

    void add(long nanos) {
        if (count == micros.length) {
            micros = Arrays.copyOf(micros, count * 2);
        }
        micros[count++] = (int) Math.min(Integer.MAX_VALUE, Math.round(nanos / 1e3));
    }

    int[] toArray() {
        return Arrays.copyOf(micros, count);
    }
}

package rlock.peer;

import java.time.Instant;

/** Milliseconds since the epoch with a fraction, as performance.timeOrigin + performance.now() of Node. */
public final class EpochClock {
    private EpochClock() {
    }

    public static double millis() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1e3 + now.getNano() / 1e6;
    }
}

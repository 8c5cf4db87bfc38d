package rlock.peer.bench;

import java.util.ArrayList;
import java.util.List;

/** What one caller did within the window. Written by its thread, read by the one that reports while it may still wait. */
final class CallerTally {
    private static final int ERRORS_KEPT = 3;
    private final List<String> errorMessages = new ArrayList<>();
    private final Waits waits = new Waits();
    private final MeasuredWindow window;
    private boolean waiting;
    private long waitingSince;
    private long lastSection;
    private long sections;
    private long overtaken;
    private long errors;
    private long violations;

    CallerTally(MeasuredWindow window) {
        this.window = window;
    }

    /** One that failed goes on waiting: the time until an acquisition succeeds is one wait. */
    synchronized void asks() {
        if (!waiting) {
            waiting = true;
            waitingSince = System.nanoTime();
        }
    }

    synchronized void enters(boolean wasOvertaken) {
        long now = System.nanoTime();
        if (window.isOver(now)) {
            return;
        }
        waiting = false;
        if (window.counts(now)) {
            sections++;
            overtaken += wasOvertaken ? 1 : 0;
            lastSection = now;
            waits.add(now - waitingSince);
        }
    }

    synchronized void meetsAnother() {
        violations++;
    }

    synchronized void fails(Throwable failure) {
        errors++;
        if (errorMessages.size() < ERRORS_KEPT) {
            errorMessages.add(failure.toString());
        }
    }

    /** Once, when the window has ended: a wait that has not counts with what it came to so far. */
    synchronized void close() {
        if (waiting && !window.isOver(waitingSince)) {
            waits.add(window.until() - waitingSince);
        }
    }

    synchronized long sections() {
        return sections;
    }

    synchronized long overtaken() {
        return overtaken;
    }

    synchronized long errors() {
        return errors;
    }

    synchronized long violations() {
        return violations;
    }

    synchronized List<String> errorMessages() {
        return List.copyOf(errorMessages);
    }

    /** Milliseconds since the window began, or -1. */
    synchronized double lastSectionAt() {
        return sections == 0 ? -1 : (lastSection - window.from()) / 1e6;
    }

    synchronized int[] waitsUs() {
        return waits.toArray();
    }
}

package rlock.peer.bench;

import java.util.List;

/** The line that says what to measure. Numbers that it does not mention are 0, the rest null. */
record BenchOrder(
    String redis,
    List<String> cluster,
    String scenario,
    String object,
    int permits,
    String role,
    int callers,
    List<String> locks,
    long warmupMs,
    long measureMs,
    long holdMs,
    int readers,
    int writers) {

    String lockOf(int caller) {
        return locks.get(caller % locks.size());
    }
}

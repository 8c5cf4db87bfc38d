package rlock.peer;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** Many threads that go through one lock again and again, without a driver in between. */
final class Contention {
    private final Map<String, EvidenceConnection> evidence = new ConcurrentHashMap<>();
    private final AtomicInteger stops = new AtomicInteger();
    private final String peerName;
    private final RedissonClient redisson;
    private final Locks locks;
    private final PeerConfig config;

    Contention(String peerName, RedissonClient redisson, Locks locks, PeerConfig config) {
        this.peerName = peerName;
        this.redisson = redisson;
        this.locks = locks;
        this.config = config;
    }

    /** Says yes once `stop` was called after this. */
    BooleanSupplier stopSignal() {
        int before = stops.get();
        return () -> stops.get() != before;
    }

    /** The threads end when the turn they are in is over. */
    Object stop() {
        stops.incrementAndGet();
        return null;
    }

    /** Returns when every thread is through: after "durationMs", "sections" in all or a stop, whichever comes first. */
    Map<String, Object> run(Command command, BooleanSupplier stopped) throws InterruptedException {
        if (!command.has("durationMs") && !command.has("sections")) {
            throw new IllegalArgumentException("contend needs \"durationMs\" or \"sections\"");
        }
        ContentionTally tally = new ContentionTally(command.number("sections", Long.MAX_VALUE));
        long deadline = System.nanoTime() + command.number("durationMs", Long.MAX_VALUE / 2_000_000) * 1_000_000;
        BooleanSupplier over = () -> stopped.getAsBoolean() || System.nanoTime() - deadline >= 0;

        List<Thread> threads = new ArrayList<>();
        for (int i = 1; i <= command.number("threads", 1); i++) {
            Section section = section(command);
            threads.add(new Thread(() -> contend(section, command, tally, over), command.thread() + "-" + i));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        return tally.report();
    }

    private Section section(Command command) {
        RLock lock = locks.get(command);
        if (!command.has("evidence")) {
            return new CriticalSection(peerName, redisson, config, lock, command);
        }
        Fields options = command.fields().object("evidence");
        String url = options.get("url").getAsString();
        return new EvidencedSection(lock, command, new Evidence(evidence.computeIfAbsent(url, EvidenceConnection::new), options));
    }

    private static void contend(Section section, Command command, ContentionTally tally, BooleanSupplier over) {
        while (!over.getAsBoolean() && tally.takeTicket()) {
            try {
                if (section.turn(tally)) {
                    Pauses.random(command.range("pauseMs"));
                }
            } catch (Throwable failure) {
                tally.failed(failure);
                Pauses.afterFailure();
            }
        }
    }
}

/** What the threads of one contention did, counted together. */
final class ContentionTally {
    private static final int ERRORS_KEPT = 20;
    private final List<Double> waits = new ArrayList<>();
    private final List<String> errors = new ArrayList<>();
    private long tickets;
    private long timeouts;
    private long errorCount;

    ContentionTally(long sections) {
        this.tickets = sections;
    }

    /** A ticket is the right to try one section; a failed or timed out try gives it back. */
    synchronized boolean takeTicket() {
        if (tickets == 0) {
            return false;
        }
        tickets--;
        return true;
    }

    synchronized void giveBackTicket() {
        tickets++;
    }

    synchronized void done(double waitMs) {
        waits.add(Math.round(waitMs * 1000) / 1000d);
    }

    synchronized void timedOut() {
        timeouts++;
        giveBackTicket();
    }

    synchronized void failed(Throwable failure) {
        errorCount++;
        giveBackTicket();
        if (errors.size() < ERRORS_KEPT) {
            errors.add(failure.getClass().getName() + ": " + failure.getMessage());
        }
    }

    synchronized Map<String, Object> report() {
        List<Double> sorted = new ArrayList<>(waits);
        Collections.sort(sorted);
        Map<String, Object> report = new LinkedHashMap<>();
        report.put("sections", waits.size());
        report.put("timeouts", timeouts);
        report.put("errorCount", errorCount);
        report.put("errors", errors);
        report.put("p50", percentile(sorted, 0.5));
        report.put("p99", percentile(sorted, 0.99));
        report.put("max", percentile(sorted, 1));
        report.put("waitsMs", waits);
        return report;
    }

    private static double percentile(List<Double> sorted, double share) {
        return sorted.isEmpty() ? 0 : sorted.get((int) Math.ceil(share * sorted.size()) - 1);
    }
}

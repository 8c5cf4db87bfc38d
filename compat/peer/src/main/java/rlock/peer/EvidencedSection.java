package rlock.peer;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.redisson.api.RLock;

/** Sections judged by what is recorded of them elsewhere: the lock's own server may be broken at any moment. */
final class EvidencedSection implements Section {
    private static final Map<String, String> SIDES = Map.of("read", "r", "write", "w");
    private final RLock lock;
    private final Command command;
    private final Evidence evidence;
    private final String side;
    private long turn;

    EvidencedSection(RLock lock, Command command, Evidence evidence) {
        this.lock = lock;
        this.command = command;
        this.evidence = evidence;
        this.side = SIDES.getOrDefault(command.text("type", "lock"), "x");
    }

    /** Throws what the evidence's server does; the failures of the lock's are recorded there. */
    @Override
    public boolean turn(ContentionTally tally) throws Exception {
        turn++;
        evidence.record(entry("want"));
        long asked = System.nanoTime();
        Outcome acquired = Outcome.of(() -> LockOperations.acquire(lock, command));
        if (!acquired.yes()) {
            evidence.record(entry("quit", acquired));
            notAcquired(acquired, tally);
            return false;
        }
        double waitMs = (System.nanoTime() - asked) / 1e6;
        try {
            inside();
        } finally {
            leave();
        }
        tally.done(waitMs);
        return true;
    }

    private static void notAcquired(Outcome acquired, ContentionTally tally) {
        if (acquired.failure() == null) {
            tally.timedOut();
        } else {
            tally.giveBackTicket();
            Pauses.afterFailure();
        }
    }

    private void inside() throws IOException, InterruptedException {
        long count = evidence.enter(entry("in"));
        Pauses.hold(command);
        // Looked at before the write, as a careful user would: a lock that may be lost writes nothing.
        if (!Outcome.of(lock::isHeldByCurrentThread).yes()) {
            evidence.leave("", entry("lost"));
        } else if (side.equals("r")) {
            evidence.leave("", entry("out"));
        } else {
            String raised = Long.toString(count + 1);
            Map<String, String> out = entry("out");
            out.put("v", raised);
            evidence.leave(raised, out);
        }
    }

    private void leave() throws IOException {
        Outcome freed = Outcome.of(() -> {
            lock.unlock();
            return true;
        });
        Map<String, String> free = entry("free", freed);
        free.put("ok", freed.yes() ? "1" : "0");
        evidence.record(free);
    }

    private Map<String, String> entry(String event, Outcome outcome) {
        Map<String, String> entry = entry(event);
        if (outcome.failure() != null) {
            entry.put("err", outcome.failure());
        }
        return entry;
    }

    /** The time is CLOCK_MONOTONIC, the same for every process of the machine. */
    private Map<String, String> entry(String event) {
        Map<String, String> entry = new LinkedHashMap<>();
        entry.put("e", event);
        entry.put("w", evidence.required("worker"));
        entry.put("f", Thread.currentThread().getName());
        entry.put("l", evidence.required("lock"));
        entry.put("s", side);
        entry.put("n", Long.toString(turn));
        if (command.has("leaseTime")) {
            entry.put("lease", command.required("leaseTime"));
        }
        entry.put("t", Long.toString(System.nanoTime() / 1000));
        return entry;
    }
}

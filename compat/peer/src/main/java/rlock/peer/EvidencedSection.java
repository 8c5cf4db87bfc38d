package rlock.peer;

import java.io.IOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.redisson.api.RBucket;
import org.redisson.api.RLock;
import org.redisson.api.RStream;
import org.redisson.api.RedissonClient;
import org.redisson.api.stream.StreamAddArgs;
import org.redisson.client.codec.StringCodec;

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
        evidence.record(entry("in"));
        Pauses.hold(command);
        // Looked at before it says so, as a careful user would before a write.
        evidence.record(entry(Outcome.of(lock::isHeldByCurrentThread).yes() ? "out" : "lost"));
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

/** What is done while the lock is held: all of it goes wrong, visibly, when two are inside. */
final class CriticalSection implements Section {
    private final String peerName;
    private final RLock lock;
    private final Command command;
    private final String type;
    private final RBucket<String> counter;
    private final RBucket<String> twin;
    private final RStream<String, String> log;

    CriticalSection(String peerName, RedissonClient redisson, PeerConfig config, RLock lock, Command command) {
        this.peerName = peerName;
        this.lock = lock;
        this.command = command;
        this.type = command.text("type", "lock");
        String counterKey = command.text("counterKey", null);
        String twinKey = command.text("twinKey", null);
        String logStream = command.text("logStream", null);
        this.counter = counterKey == null ? null : redisson.getBucket(plain(counterKey, config), StringCodec.INSTANCE);
        this.twin = twinKey == null ? null : redisson.getBucket(plain(twinKey, config), StringCodec.INSTANCE);
        this.log = logStream == null ? null : redisson.getStream(plain(logStream, config), StringCodec.INSTANCE);
    }

    @Override
    public boolean turn(ContentionTally tally) throws InterruptedException {
        long asked = System.nanoTime();
        if (!LockOperations.acquire(lock, command)) {
            tally.timedOut();
            return false;
        }
        double waitMs = (System.nanoTime() - asked) / 1e6;
        try {
            record("acquired", waitMs, Map.of());
            record("released", waitMs, work());
        } finally {
            lock.unlock();
        }
        tally.done(waitMs);
        return true;
    }

    /** Answers what a reader found in the two keys of a record. */
    private Map<String, String> work() throws InterruptedException {
        if (counter == null) {
            Pauses.hold(command);
            return Map.of();
        }
        long before = number(counter);
        if (twin != null && type.equals("read")) {
            Pauses.hold(command);
            return Map.of("first", Long.toString(before), "second", Long.toString(number(twin)));
        }
        // Not INCR: an update in between must be lost, or the counter could not tell.
        String raised = Long.toString(before + 1);
        if (twin != null) {
            // In two steps with a while between them: a reader meanwhile sees half a change.
            counter.set(raised);
        }
        Pauses.hold(command);
        (twin == null ? counter : twin).set(raised);
        return Map.of();
    }

    private static long number(RBucket<String> bucket) {
        String value = bucket.get();
        return value == null ? 0 : Long.parseLong(value);
    }

    /** The server orders the entries, so that no clock of any process has to be trusted. */
    private void record(String event, double waitMs, Map<String, String> seen) {
        if (log == null) {
            return;
        }
        Map<String, String> entry = new HashMap<>(seen);
        entry.put("who", peerName);
        entry.put("thread", Thread.currentThread().getName());
        entry.put("threadId", Long.toString(Thread.currentThread().getId()));
        entry.put("type", type);
        entry.put("event", event);
        entry.put("waitMs", Double.toString(waitMs));
        log.add(StreamAddArgs.entries(entry));
    }

    private static String plain(String name, PeerConfig config) {
        config.leaveAlone(name);
        return name;
    }
}

/** What one thread does at a lock again and again. */
interface Section {
    /** Asks for the lock, and goes in and out when it gets it; false when it got none. */
    boolean turn(ContentionTally tally) throws Exception;
}

package rlock.peer;

import java.util.HashMap;
import java.util.Map;
import org.redisson.api.RBucket;
import org.redisson.api.RLock;
import org.redisson.api.RStream;
import org.redisson.api.RedissonClient;
import org.redisson.api.stream.StreamAddArgs;
import org.redisson.client.codec.StringCodec;

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

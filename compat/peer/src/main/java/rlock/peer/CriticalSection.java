package rlock.peer;

import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.redisson.api.RBucket;
import org.redisson.api.RStream;
import org.redisson.api.RedissonClient;
import org.redisson.api.stream.StreamAddArgs;
import org.redisson.client.codec.StringCodec;

/** What is done while the lock is held: all of it goes wrong, visibly, when two are inside. */
final class CriticalSection {
    private final String peerName;
    private final String type;
    private final RBucket<String> counter;
    private final RStream<String, String> log;
    private final long[] holdMs;

    CriticalSection(String peerName, RedissonClient redisson, PeerConfig config, Command command) {
        this.peerName = peerName;
        this.type = command.text("type", "lock");
        String counterKey = command.text("counterKey", null);
        String logStream = command.text("logStream", null);
        this.counter = counterKey == null ? null : redisson.getBucket(plain(counterKey, config), StringCodec.INSTANCE);
        this.log = logStream == null ? null : redisson.getStream(plain(logStream, config), StringCodec.INSTANCE);
        this.holdMs = command.range("holdMs");
    }

    void run(double waitMs) throws InterruptedException {
        record("acquired", waitMs);
        String before = counter == null ? null : counter.get();
        Thread.sleep(ThreadLocalRandom.current().nextLong(holdMs[0], holdMs[1] + 1));
        if (counter != null) {
            // Not INCR: an update in between must be lost, or the counter could not tell.
            counter.set(Long.toString(before == null ? 1 : Long.parseLong(before) + 1));
        }
        record("released", waitMs);
    }

    /** The server orders the entries, so that no clock of any process has to be trusted. */
    private void record(String event, double waitMs) {
        if (log != null) {
            log.add(StreamAddArgs.entries(Map.of(
                "who", peerName,
                "thread", Thread.currentThread().getName(),
                "type", type,
                "event", event,
                "waitMs", Double.toString(waitMs))));
        }
    }

    private static String plain(String name, PeerConfig config) {
        config.leaveAlone(name);
        return name;
    }
}

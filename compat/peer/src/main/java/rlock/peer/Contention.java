package rlock.peer;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** Many threads that go through one lock again and again, without a driver in between. */
final class Contention {
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

    /** Returns when every thread is through: after "durationMs", or "sections" in all, whichever comes first. */
    Map<String, Object> run(Command command) throws InterruptedException {
        if (!command.has("durationMs") && !command.has("sections")) {
            throw new IllegalArgumentException("contend needs \"durationMs\" or \"sections\"");
        }
        RLock lock = locks.get(command);
        CriticalSection section = new CriticalSection(peerName, redisson, config, command);
        ContentionTally tally = new ContentionTally(command.number("sections", Long.MAX_VALUE));
        long deadline = System.nanoTime() + command.number("durationMs", Long.MAX_VALUE / 2_000_000) * 1_000_000;

        List<Thread> threads = new ArrayList<>();
        for (int i = 1; i <= command.number("threads", 1); i++) {
            threads.add(new Thread(() -> contend(lock, command, section, tally, deadline), command.thread() + "-" + i));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        return tally.report();
    }

    private void contend(RLock lock, Command command, CriticalSection section, ContentionTally tally, long deadline) {
        while (System.nanoTime() - deadline < 0 && tally.takeTicket()) {
            try {
                long asked = System.nanoTime();
                if (!acquire(lock, command)) {
                    tally.timedOut();
                    continue;
                }
                double waitMs = (System.nanoTime() - asked) / 1e6;
                try {
                    section.run(waitMs);
                } finally {
                    lock.unlock();
                }
                tally.done(waitMs);
                stayAway(command.range("pauseMs"));
            } catch (Throwable failure) {
                tally.failed(failure);
                pause();
            }
        }
    }

    private static boolean acquire(RLock lock, Command command) throws InterruptedException {
        if (command.has("waitTime")) {
            return LockOperations.tryLock(lock, command);
        }
        LockOperations.lock(lock, command);
        return true;
    }

    private static void stayAway(long[] pauseMs) throws InterruptedException {
        Thread.sleep(ThreadLocalRandom.current().nextLong(pauseMs[0], pauseMs[1] + 1));
    }

    /** An unreachable server must not turn the loop into a busy one. */
    private static void pause() {
        try {
            Thread.sleep(50);
        } catch (InterruptedException unexpected) {
            Thread.currentThread().interrupt();
        }
    }
}

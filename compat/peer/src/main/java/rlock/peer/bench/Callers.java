package rlock.peer.bench;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.redisson.api.RLock;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

/** Runs a caller a thread, and adds up what they did. */
final class Callers {
    private static final int ERRORS_KEPT = 3;
    private final MeasuredWindow window;
    private final List<Caller> callers;

    Callers(int count, MeasuredWindow window, IntFunction<Supplier<BenchedLock>> locksOfCaller) {
        this.window = window;
        this.callers = IntStream.range(0, count).mapToObj(caller -> new Caller(locksOfCaller.apply(caller), window)).toList();
    }

    /** Does not wait for callers that still wait: a starved one would keep the report from ever coming. */
    Map<String, Object> run() throws InterruptedException {
        callers.forEach(caller -> {
            Thread thread = new Thread(caller);
            thread.setDaemon(true);
            thread.start();
        });
        window.awaitEnd();
        return result(callers.stream().map(Caller::tally).toList());
    }

    private static Map<String, Object> result(List<CallerTally> tallies) {
        tallies.forEach(CallerTally::close);
        long[] perCaller = tallies.stream().mapToLong(CallerTally::sections).toArray();
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("sections", IntStream.range(0, perCaller.length).mapToLong(caller -> perCaller[caller]).sum());
        result.put("perCaller", perCaller);
        result.put("waitsUs", tallies.stream().flatMapToInt(tally -> IntStream.of(tally.waitsUs())).toArray());
        result.put("lastSectionAt", tallies.stream().map(CallerTally::lastSectionAt).max(Comparator.naturalOrder()).orElse(-1d));
        result.put("errors", tallies.stream().mapToLong(CallerTally::errors).sum());
        result.put("errorMessages", tallies.stream().flatMap(tally -> tally.errorMessages().stream()).limit(ERRORS_KEPT).toList());
        result.put("violations", tallies.stream().mapToLong(CallerTally::violations).sum());
        result.put("overtaken", tallies.stream().mapToLong(CallerTally::overtaken).sum());
        return result;
    }
}

/** One thread that goes through locks again and again until the window is over. */
final class Caller implements Runnable {
    /** A Redis that refuses at once must not make this a busy loop. */
    private static final long PAUSE_AFTER_ERROR_MS = 1;
    private final Supplier<BenchedLock> nextLock;
    private final MeasuredWindow window;
    private final CallerTally tally;

    Caller(Supplier<BenchedLock> nextLock, MeasuredWindow window) {
        this.nextLock = nextLock;
        this.window = window;
        this.tally = new CallerTally(window);
    }

    CallerTally tally() {
        return tally;
    }

    @Override
    public void run() {
        try {
            window.awaitStart();
            while (!window.isOver(System.nanoTime())) {
                turn(nextLock.get());
            }
        } catch (InterruptedException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private void turn(BenchedLock lock) throws InterruptedException {
        try {
            tally.asks();
            boolean overtaken = lock.acquire();
            tally.enters(overtaken);
            if (lock.section()) {
                tally.meetsAnother();
            }
            lock.release();
        } catch (RuntimeException failure) {
            tally.fails(failure);
            Thread.sleep(PAUSE_AFTER_ERROR_MS);
        }
    }
}

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

/** Those of this process that use one lock: who is inside, and in which order they came. */
final class Crowd {
    /** What an owner weighs that keeps all others out: more than readers could ever add up to. */
    static final int ALONE = 1 << 20;
    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicLong asked = new AtomicLong();
    private final AtomicLong served = new AtomicLong();

    /** Numbers those who ask. */
    long asks() {
        return asked.incrementAndGet();
    }

    /** Answers whether somebody who asked later was let in before. */
    boolean isLet(long number) {
        return number < served.getAndAccumulate(number, Math::max);
    }

    /** Answers whether more are inside than may be: together they weigh more than one that is alone. */
    boolean enters(int weight) {
        return inside.addAndGet(weight) > ALONE;
    }

    void leaves(int weight) {
        inside.addAndGet(-weight);
    }
}

/** What callers go in by: a lock, or a permit of a semaphore. */
interface Entrance {
    void acquire() throws InterruptedException;

    void release();

    /** The object that the order names; a plain lock where it names none. */
    static Entrance of(RedissonClient redisson, BenchOrder order, String name) {
        return switch (order.object() == null ? "lock" : order.object()) {
            case "lock" -> of(redisson.getLock(name));
            case "fair" -> of(redisson.getFairLock(name));
            case "semaphore" -> of(redisson.getSemaphore(name));
            default -> throw new IllegalArgumentException("no such object: " + order.object());
        };
    }

    static Entrance of(RLock lock) {
        return new Entrance() {
            @Override
            public void acquire() {
                lock.lock();
            }

            @Override
            public void release() {
                lock.unlock();
            }
        };
    }

    private static Entrance of(RSemaphore semaphore) {
        return new Entrance() {
            @Override
            public void acquire() throws InterruptedException {
                semaphore.acquire();
            }

            @Override
            public void release() {
                semaphore.release();
            }
        };
    }
}

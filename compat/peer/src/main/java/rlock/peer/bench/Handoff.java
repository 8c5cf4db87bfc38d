package rlock.peer.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.redisson.api.RLock;
import rlock.peer.EpochClock;

/** Takes turns with one other process at one lock, and notes when it let go and when it was inside. */
final class Handoff {
    private final List<Double> unlocks = new ArrayList<>();
    private final List<Double> entries = new ArrayList<>();
    private final RLock lock;
    private final BenchOrder order;
    private final MeasuredWindow window;

    Handoff(RLock lock, BenchOrder order, MeasuredWindow window) {
        this.lock = lock;
        this.order = order;
        this.window = window;
    }

    Map<String, Object> run() throws InterruptedException {
        window.awaitStart();
        if (order.role().equals("taker")) {
            stayAway();
        }
        while (!window.isOver(System.nanoTime())) {
            turn();
            stayAway();
        }
        return Map.of("unlocks", unlocks, "entries", entries);
    }

    /** Holds for so long that the other waits for certain, asleep. */
    private void turn() throws InterruptedException {
        lock.lock();
        double entered = EpochClock.millis();
        boolean counts = window.counts(System.nanoTime());
        Thread.sleep(order.holdMs());
        double letGo = EpochClock.millis();
        lock.unlock();
        if (counts) {
            entries.add(entered);
            unlocks.add(letGo);
        }
    }

    /** Half a hold: the other is inside by then, and we ask while it still holds. */
    private void stayAway() throws InterruptedException {
        Thread.sleep(Math.max(1, order.holdMs() / 2));
    }
}

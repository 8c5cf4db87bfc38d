package rlock.peer.bench;

import java.util.function.Supplier;
import org.redisson.api.RLock;
import org.redisson.api.RReadWriteLock;

/** Gives the two sides in the proportion asked for; each flow begins at another place, so that not all write at once. */
final class SidesInTurn implements Supplier<RLock> {
    private final RLock read;
    private final RLock write;
    private final int reads;
    private final int all;
    private int turn;

    SidesInTurn(RReadWriteLock lock, int reads, int writes, int firstTurn) {
        this.read = lock.readLock();
        this.write = lock.writeLock();
        this.reads = reads;
        this.all = reads + writes;
        this.turn = firstTurn;
    }

    @Override
    public RLock get() {
        return turn++ % all < reads ? read : write;
    }
}

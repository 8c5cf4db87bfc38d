package rlock.peer.bench;

import java.util.function.Supplier;

/** Gives the two sides in the proportion asked for; each caller begins at another place, so that not all write at once. */
final class SidesInTurn implements Supplier<BenchedLock> {
    private final BenchedLock read;
    private final BenchedLock write;
    private final BenchOrder order;
    private int turn;

    SidesInTurn(BenchedLock read, BenchedLock write, BenchOrder order, int firstTurn) {
        this.read = read;
        this.write = write;
        this.order = order;
        this.turn = firstTurn;
    }

    @Override
    public BenchedLock get() {
        return turn++ % (order.readers() + order.writers()) < order.readers() ? read : write;
    }
}

package rlock.peer.bench;

import java.util.Arrays;

/** How long one caller waited for each of its turns, in whole microseconds. Grows rarely, and boxes nothing. */
final class Waits {
    private int[] micros = new int[1 << 16];
    private int count;

    void add(long nanos) {
        if (count == micros.length) {
            micros = Arrays.copyOf(micros, count * 2);
        }
        micros[count++] = (int) Math.min(Integer.MAX_VALUE, Math.round(nanos / 1e3));
    }

    int[] toArray() {
        return Arrays.copyOf(micros, count);
    }
}

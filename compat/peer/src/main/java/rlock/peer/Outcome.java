package rlock.peer;

import java.util.concurrent.Callable;

/** What a call on a lock came to: its answer, or what it threw instead of one. */
record Outcome(boolean yes, String failure) {
    private static final int LONGEST = 200;

    static Outcome of(Callable<Boolean> call) {
        try {
            return new Outcome(call.call(), null);
        } catch (Exception failure) {
            String text = failure.getClass().getName() + ": " + failure.getMessage();
            return new Outcome(false, text.substring(0, Math.min(LONGEST, text.length())));
        }
    }
}

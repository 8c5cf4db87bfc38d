package rlock.peer;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What the threads of one contention did, counted together. */
final class ContentionTally {
    private static final int ERRORS_KEPT = 20;
    private final List<Double> waits = new ArrayList<>();
    private final List<String> errors = new ArrayList<>();
    private long tickets;
    private long timeouts;
    private long errorCount;

    ContentionTally(long sections) {
        this.tickets = sections;
    }

    /** A ticket is the right to try one section; a failed or timed out try gives it back. */
    synchronized boolean takeTicket() {
        if (tickets == 0) {
            return false;
        }
        tickets--;
        return true;
    }

    synchronized void giveBackTicket() {
        tickets++;
    }

    synchronized void done(double waitMs) {
        waits.add(Math.round(waitMs * 1000) / 1000d);
    }

    synchronized void timedOut() {
        timeouts++;
        giveBackTicket();
    }

    synchronized void failed(Throwable failure) {
        errorCount++;
        giveBackTicket();
        if (errors.size() < ERRORS_KEPT) {
            errors.add(failure.getClass().getName() + ": " + failure.getMessage());
        }
    }

    synchronized Map<String, Object> report() {
        List<Double> sorted = new ArrayList<>(waits);
        Collections.sort(sorted);
        Map<String, Object> report = new LinkedHashMap<>();
        report.put("sections", waits.size());
        report.put("timeouts", timeouts);
        report.put("errorCount", errorCount);
        report.put("errors", errors);
        report.put("p50", percentile(sorted, 0.5));
        report.put("p99", percentile(sorted, 0.99));
        report.put("max", percentile(sorted, 1));
        report.put("waitsMs", waits);
        return report;
    }

    private static double percentile(List<Double> sorted, double share) {
        return sorted.isEmpty() ? 0 : sorted.get((int) Math.ceil(share * sorted.size()) - 1);
    }
}

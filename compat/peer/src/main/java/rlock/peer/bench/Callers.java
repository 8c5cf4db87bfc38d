package rlock.peer.bench;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.IntStream;

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

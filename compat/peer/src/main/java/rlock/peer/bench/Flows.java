package rlock.peer.bench;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/** Runs a flow a thread, and adds up what they did. */
final class Flows {
    private static final int ERRORS_KEPT = 3;
    private final MeasuredWindow window;
    private final List<Flow> flows;

    Flows(int count, MeasuredWindow window, IntFunction<Supplier<BenchedLock>> locksOfFlow) {
        this.window = window;
        this.flows = IntStream.range(0, count).mapToObj(flow -> new Flow(locksOfFlow.apply(flow), window)).toList();
    }

    /** Does not wait for those who still wait: what is starved would keep the report from ever coming. */
    Map<String, Object> run() throws InterruptedException {
        flows.forEach(flow -> {
            Thread thread = new Thread(flow);
            thread.setDaemon(true);
            thread.start();
        });
        window.awaitEnd();
        return result(flows.stream().map(Flow::tally).toList());
    }

    private static Map<String, Object> result(List<FlowTally> tallies) {
        tallies.forEach(FlowTally::close);
        long[] perFlow = tallies.stream().mapToLong(FlowTally::sections).toArray();
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("sections", IntStream.range(0, perFlow.length).mapToLong(flow -> perFlow[flow]).sum());
        result.put("perFlow", perFlow);
        result.put("waitsUs", tallies.stream().flatMapToInt(tally -> IntStream.of(tally.waitsUs())).toArray());
        result.put("lastSectionAt", tallies.stream().map(FlowTally::lastSectionAt).max(Comparator.naturalOrder()).orElse(-1d));
        result.put("errors", tallies.stream().mapToLong(FlowTally::errors).sum());
        result.put("errorMessages", tallies.stream().flatMap(tally -> tally.errorMessages().stream()).limit(ERRORS_KEPT).toList());
        result.put("violations", tallies.stream().mapToLong(FlowTally::violations).sum());
        result.put("overtaken", tallies.stream().mapToLong(FlowTally::overtaken).sum());
        return result;
    }
}

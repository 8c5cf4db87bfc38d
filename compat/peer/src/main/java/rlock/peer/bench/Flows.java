package rlock.peer.bench;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.redisson.api.RLock;

/** Runs a flow a thread, and adds up what they did. */
final class Flows {
    private final BenchOrder order;
    private final List<Flow> flows;

    Flows(BenchOrder order, MeasuredWindow window, IntFunction<Supplier<RLock>> locksOfFlow) {
        this.order = order;
        this.flows = IntStream.range(0, order.flows())
            .mapToObj(flow -> new Flow(locksOfFlow.apply(flow), order, window))
            .toList();
    }

    Map<String, Object> run() throws InterruptedException {
        List<Thread> threads = flows.stream().map(Thread::new).toList();
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        return result();
    }

    private Map<String, Object> result() {
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("sections", flows.stream().mapToLong(Flow::sections).sum());
        result.put("perFlow", flows.stream().mapToLong(Flow::sections).toArray());
        result.put("waitsUs", flows.stream().flatMapToInt(flow -> flow.waits().stream()).toArray());
        result.put("errors", flows.stream().mapToLong(Flow::errors).sum());
        result.put("firstError", flows.stream().map(Flow::firstError).filter(Objects::nonNull).findFirst().orElse(null));
        return result;
    }
}

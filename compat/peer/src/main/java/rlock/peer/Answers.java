package rlock.peer;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a peer answers, and how: a line for each command, and one when it is ready. */
final class Answers {
    private final JsonLines lines;

    Answers(JsonLines lines) {
        this.lines = lines;
    }

    void ready(String clientId, String version, List<String> unsupported) {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("ready", true);
        line.put("clientId", clientId);
        line.put("version", version);
        line.put("unsupported", unsupported);
        lines.print(line);
    }

    void notReady(Throwable failure) {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("ready", false);
        putFailure(line, failure);
        lines.print(line);
    }

    void succeeded(long id, Object value, long startedNanos) {
        Map<String, Object> line = answer(id, true, startedNanos);
        line.put("value", value);
        lines.print(line);
    }

    void failed(long id, Throwable failure, long startedNanos) {
        Map<String, Object> line = answer(id, false, startedNanos);
        putFailure(line, failure);
        lines.print(line);
    }

    private static Map<String, Object> answer(long id, boolean ok, long startedNanos) {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("id", id);
        line.put("ok", ok);
        line.put("at", EpochClock.millis());
        line.put("tookMs", (System.nanoTime() - startedNanos) / 1e6);
        return line;
    }

    private static void putFailure(Map<String, Object> line, Throwable failure) {
        line.put("error", failure.getClass().getName());
        line.put("message", String.valueOf(failure.getMessage()));
    }
}

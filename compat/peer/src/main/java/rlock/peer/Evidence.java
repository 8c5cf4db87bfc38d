package rlock.peer;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Where the sections of one lock are recorded and counted, as the command's "evidence" says. */
final class Evidence {
    private final EvidenceConnection connection;
    private final Fields options;

    Evidence(EvidenceConnection connection, Fields options) {
        this.connection = connection;
        this.options = options;
    }

    String required(String option) {
        return options.get(option).getAsString();
    }

    void record(Map<String, String> entry) throws IOException {
        send(List.of("XADD", required("stream"), "*"), entry);
    }

    /** Answers the counter as it was at that moment. */
    long enter(Map<String, String> entry) throws IOException {
        return Long.parseLong(send(script("enterScript"), entry));
    }

    /** An empty count leaves the counter alone. */
    void leave(String count, Map<String, String> entry) throws IOException {
        List<String> command = script("leaveScript");
        command.add(count);
        send(command, entry);
    }

    private List<String> script(String option) {
        return new ArrayList<>(List.of("EVAL", required(option), "2", required("stream"), required("counterKey")));
    }

    private String send(List<String> command, Map<String, String> entry) throws IOException {
        List<String> parts = new ArrayList<>(command);
        entry.forEach((field, value) -> parts.addAll(List.of(field, value)));
        return connection.send(parts.toArray(String[]::new));
    }
}

package rlock.peer;

import com.google.gson.Gson;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The only writer of stdout; every answer is one whole line. */
final class Answers {
    private final Gson json = new Gson();
    private final PrintStream out;

    private Answers(PrintStream out) {
        this.out = out;
    }

    /** Whatever else prints goes to stderr from here on, so that no library can spoil a line. */
    static Answers takeStdout() {
        PrintStream stdout = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        System.setOut(System.err);
        return new Answers(stdout);
    }

    void ready(String clientId, String version, List<String> unsupported) {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("ready", true);
        line.put("clientId", clientId);
        line.put("version", version);
        line.put("unsupported", unsupported);
        print(line);
    }

    void notReady(Throwable failure) {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("ready", false);
        putFailure(line, failure);
        print(line);
    }

    void succeeded(long id, Object value, long startedNanos) {
        Map<String, Object> line = answer(id, true, startedNanos);
        line.put("value", value);
        print(line);
    }

    void failed(long id, Throwable failure, long startedNanos) {
        Map<String, Object> line = answer(id, false, startedNanos);
        putFailure(line, failure);
        print(line);
    }

    private static Map<String, Object> answer(long id, boolean ok, long startedNanos) {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("id", id);
        line.put("ok", ok);
        line.put("at", epochMillis());
        line.put("tookMs", (System.nanoTime() - startedNanos) / 1e6);
        return line;
    }

    private static void putFailure(Map<String, Object> line, Throwable failure) {
        line.put("error", failure.getClass().getName());
        line.put("message", String.valueOf(failure.getMessage()));
    }

    private static double epochMillis() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1e3 + now.getNano() / 1e6;
    }

    private void print(Map<String, Object> line) {
        String text = json.toJson(line);
        synchronized (out) {
            out.print(text + "\n");
            out.flush();
        }
    }
}

package rlock.peer.bench;

import com.google.gson.Gson;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.redisson.api.RedissonClient;
import rlock.peer.JsonLines;
import rlock.peer.RedissonVersion;

/** Java Redisson as a worker of the bench, by the protocol in bench/worker/protocol.ts. */
public final class BenchWorker {
    private static final long UNTIL_LAST_RELEASE_MS = 100;

    private BenchWorker() {
    }

    public static void main(String[] args) {
        endWithParent();
        JsonLines lines = JsonLines.takeStdout();
        try {
            work(lines);
        } catch (Throwable failure) {
            failure.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
        Runtime.getRuntime().halt(0);
    }

    private static void work(JsonLines lines) throws IOException, InterruptedException {
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        BenchOrder order = new Gson().fromJson(orders.readLine(), BenchOrder.class);
        RedissonClient redisson = BenchClient.connect(order);
        lines.print(Map.of("ready", true, "redisson", RedissonVersion.ofJar(), "java", Runtime.version().toString()));
        double start = JsonParser.parseString(orders.readLine()).getAsJsonObject().get("start").getAsDouble();
        lines.print(Map.of("result", new Scenarios(redisson, order).run(start)));
        // So that those inside get out. What still waits goes with the process.
        Thread.sleep(UNTIL_LAST_RELEASE_MS);
    }

    /** A bench that was killed must not leave us running: we would load the machine until the window is over. */
    private static void endWithParent() {
        ProcessHandle.current().parent()
            .ifPresent(parent -> parent.onExit().thenRun(() -> Runtime.getRuntime().halt(1)));
    }
}

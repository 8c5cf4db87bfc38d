package rlock.peer;

import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;

/** A Redisson client driven over stdin and stdout: one JSON command a line in, one JSON answer a line out. */
public final class Peer {
    private Peer() {
    }

    public static void main(String[] args) {
        Answers answers = new Answers(JsonLines.takeStdout());
        try {
            Fields settings = new Fields(JsonParser.parseString(args.length > 0 ? args[0] : System.getenv("PEER_CONFIG")));
            FastClock.install();
            PeerConfig config = new PeerConfig(settings);
            RedissonClient redisson = Redisson.create(config.redisson());
            answers.ready(redisson.getId(), RedissonVersion.ofJar(), config.unsupported());
            Dispatcher dispatcher = new Dispatcher(settings.text("name", "java"), redisson, config, answers);
            serve(dispatcher);
        } catch (Throwable failure) {
            answers.notReady(failure);
            Runtime.getRuntime().halt(1);
        }
        // The process that drove us is gone. Leaving without a goodbye is the point: what a dead
        // process held must stay behind for its lease, as after a crash.
        Runtime.getRuntime().halt(0);
    }

    private static void serve(Dispatcher dispatcher) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (!line.isBlank()) {
                dispatcher.accept(line);
            }
        }
    }
}

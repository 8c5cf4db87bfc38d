package rlock.peer;

import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Properties;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;

/** A Redisson client driven over stdin and stdout: one JSON command a line in, one JSON answer a line out. */
public final class Peer {
    private static final String REDISSON_FACTS = "/META-INF/maven/org.redisson/redisson/pom.properties";

    private Peer() {
    }

    public static void main(String[] args) {
        Answers answers = Answers.takeStdout();
        try {
            Fields settings = new Fields(JsonParser.parseString(args.length > 0 ? args[0] : System.getenv("PEER_CONFIG")));
            PeerConfig config = new PeerConfig(settings);
            RedissonClient redisson = Redisson.create(config.redisson());
            answers.ready(redisson.getId(), redissonVersion(), config.unsupported());
            Dispatcher dispatcher = new Dispatcher(settings.text("name", "java"), redisson, config, answers);
            serve(dispatcher);
        } catch (Throwable failure) {
            answers.notReady(failure);
            Runtime.getRuntime().halt(1);
        }
        // Whoever drove us is gone. Leaving without a goodbye is the point: what a dead
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

    /** What the jar says about itself, not what the build was asked for. */
    private static String redissonVersion() throws Exception {
        try (InputStream facts = Redisson.class.getResourceAsStream(REDISSON_FACTS)) {
            if (facts == null) {
                return "unknown";
            }
            Properties properties = new Properties();
            properties.load(facts);
            return properties.getProperty("version", "unknown");
        }
    }
}

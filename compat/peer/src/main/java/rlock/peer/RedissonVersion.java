package rlock.peer;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import org.redisson.Redisson;

/** What the jar says about itself, not what the build was asked for. */
public final class RedissonVersion {
    private static final String FACTS = "/META-INF/maven/org.redisson/redisson/pom.properties";

    private RedissonVersion() {
    }

    public static String ofJar() throws IOException {
        try (InputStream facts = Redisson.class.getResourceAsStream(FACTS)) {
            if (facts == null) {
                return "unknown";
            }
            Properties properties = new Properties();
            properties.load(facts);
            return properties.getProperty("version", "unknown");
        }
    }
}

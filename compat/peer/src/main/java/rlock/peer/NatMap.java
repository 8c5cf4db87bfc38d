package rlock.peer;

import java.util.Map;
import java.util.function.UnaryOperator;
import org.redisson.misc.RedisURI;

/** Where nodes announce addresses that cannot be reached from here (containers): "host:port" to "host:port". */
final class NatMap {
    private NatMap() {
    }

    /** As the method of Redisson's NatMapper. */
    static Map<String, UnaryOperator<Object>> functions(Fields addresses) {
        return Map.of("map", announced -> {
            RedisURI uri = (RedisURI) announced;
            String reachable = addresses.text(uri.getHost() + ":" + uri.getPort(), null);
            return reachable == null ? uri : new RedisURI(uri.getScheme() + "://" + reachable);
        });
    }
}

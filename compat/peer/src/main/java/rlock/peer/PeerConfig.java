package rlock.peer;

import com.google.gson.JsonPrimitive;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import org.redisson.config.BaseConfig;
import org.redisson.config.BaseMasterSlaveServersConfig;
import org.redisson.config.ClusterServersConfig;
import org.redisson.config.Config;
import org.redisson.config.ReadMode;
import org.redisson.config.SentinelServersConfig;
import org.redisson.config.SingleServerConfig;
import org.redisson.misc.RedisURI;

/** Redisson's configuration from the driver's JSON. What it does not mention keeps Redisson's default. */
final class PeerConfig {
    private static final int POOL = 8;
    private final List<String> unsupported = new ArrayList<>();
    private final Config config = new Config();
    private final Fields settings;
    private final PrefixMapper mapper;

    PeerConfig(Fields settings) {
        this.settings = settings;
        this.mapper = new PrefixMapper(settings.text("namePrefix", ""));
        config.setThreads(4).setNettyThreads(4);
        BaseConfig<?> servers = servers();
        // The default of five channels a connection would need many connections for many locks.
        servers.setSubscriptionsPerConnection(1000);
        apply("lockWatchdogTimeout", config);
        apply("lockWatchdogBatchSize", config);
        apply("checkLockSyncedSlaves", config);
        apply("slavesSyncTimeout", config);
        apply("fairLockWaitTimeout", config);
        apply("shardedSubscriptionMode", servers);
        // Newer versions have these on the root and deprecated the others.
        apply("username", config, servers);
        apply("password", config, servers);
        apply("sentinelPassword", servers);
        apply("timeout", servers);
        apply("connectTimeout", servers);
        apply("retryAttempts", servers);
        apply("retryInterval", servers);
        apply("pingConnectionInterval", servers);
        apply("scanInterval", servers);
        if (settings.has("namePrefix")) {
            note("namePrefix", Settings.set("setNameMapper", mapper.functions(), config, servers));
        }
        if (settings.has("natMap")) {
            note("natMap", Settings.set("setNatMapper", NatMap.functions(settings.object("natMap")), servers));
        }
    }

    Config redisson() {
        return config;
    }

    /** Settings that were asked for and that this Redisson does not know. */
    List<String> unsupported() {
        return unsupported;
    }

    /** Keeps a name out of the name mapper. */
    void leaveAlone(String name) {
        mapper.leaveAlone(name);
    }

    private BaseConfig<?> servers() {
        String mode = settings.text("mode", "standalone");
        return switch (mode) {
            case "standalone" -> standalone();
            case "sentinel" -> sentinel();
            case "cluster" -> cluster();
            default -> throw new IllegalArgumentException("no such mode: " + mode);
        };
    }

    private SingleServerConfig standalone() {
        return config.useSingleServer()
            .setAddress(addresses()[0])
            .setDatabase((int) settings.number("database", 0))
            .setDnsMonitoringInterval(-1)
            .setConnectionPoolSize(POOL).setConnectionMinimumIdleSize(1)
            .setSubscriptionConnectionPoolSize(POOL).setSubscriptionConnectionMinimumIdleSize(1);
    }

    private SentinelServersConfig sentinel() {
        SentinelServersConfig servers = config.useSentinelServers()
            .addSentinelAddress(addresses())
            .setMasterName(settings.text("masterName", "mymaster"))
            .setDatabase((int) settings.number("database", 0))
            .setCheckSentinelsList(false);
        return small(servers);
    }

    private ClusterServersConfig cluster() {
        ClusterServersConfig servers = small(config.useClusterServers().addNodeAddress(addresses()));
        // Since 4.0.
        apply("database", servers);
        return servers;
    }

    /** Reads go to the primary unless asked for otherwise: a counter read from a replica proves nothing. */
    private <T extends BaseMasterSlaveServersConfig<T>> T small(T servers) {
        return servers
            .setReadMode(ReadMode.valueOf(settings.text("readMode", "MASTER")))
            .setDnsMonitoringInterval(-1)
            .setMasterConnectionPoolSize(POOL).setMasterConnectionMinimumIdleSize(1)
            .setSlaveConnectionPoolSize(POOL).setSlaveConnectionMinimumIdleSize(1)
            .setSubscriptionConnectionPoolSize(POOL).setSubscriptionConnectionMinimumIdleSize(1);
    }

    private String[] addresses() {
        return Arrays.stream(settings.texts("addresses"))
            .map(address -> address.contains("://") ? address : "redis://" + address)
            .toArray(String[]::new);
    }

    private void apply(String name, Object... targets) {
        if (!settings.has(name)) {
            return;
        }
        JsonPrimitive value = settings.get(name).getAsJsonPrimitive();
        Object plain = value.isNumber() ? value.getAsNumber() : value.isBoolean() ? value.getAsBoolean() : value.getAsString();
        String setter = "set" + Character.toUpperCase(name.charAt(0)) + name.substring(1);
        note(name, Settings.set(setter, plain, targets));
    }

    private void note(String name, boolean supported) {
        if (!supported) {
            unsupported.add(name);
        }
    }
}

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

/** Puts a prefix before every name but those set aside: a test's own counters and logs keep theirs. */
final class PrefixMapper {
    private final Set<String> unmapped = ConcurrentHashMap.newKeySet();
    private final String prefix;

    PrefixMapper(String prefix) {
        this.prefix = prefix;
    }

    void leaveAlone(String name) {
        unmapped.add(name);
    }

    /** As the methods of Redisson's NameMapper. */
    Map<String, UnaryOperator<Object>> functions() {
        return Map.of("map", this::map, "unmap", this::unmap);
    }

    private Object map(Object name) {
        return name == null || unmapped.contains(name) ? name : prefix + name;
    }

    private Object unmap(Object name) {
        return name != null && ((String) name).startsWith(prefix) ? ((String) name).substring(prefix.length()) : name;
    }
}

package rlock.peer;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;

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

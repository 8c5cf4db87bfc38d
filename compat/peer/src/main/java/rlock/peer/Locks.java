package rlock.peer;

import java.lang.reflect.InvocationTargetException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.redisson.RedissonRedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** Finds the lock object a command speaks of. */
final class Locks {
    /** Like Callable, but Throwable: what Redisson throws is an answer, too. */
    interface Work {
        Object run() throws Throwable;
    }

    private static final Class<?>[] NAME = {String.class};
    private static final Class<?>[] GROUP = {String.class, Collection.class};

    private final Map<String, RLock> known = new ConcurrentHashMap<>();
    private final RedissonClient redisson;

    Locks(RedissonClient redisson) {
        this.redisson = redisson;
    }

    /**
     * One object for each type and name, as a service would keep it. Redisson stores the lease on
     * the object, so a test that needs a second one asks for it with an "object" tag.
     */
    RLock get(Command command) {
        String type = command.text("type", "lock");
        String name = command.required("lock");
        String key = type + '\n' + command.text("object", "") + '\n' + name;
        return known.computeIfAbsent(key, absent -> create(type, name));
    }

    /** Redisson calls its RedLock deprecated, and every version has it. */
    @SuppressWarnings("deprecation")
    private RLock create(String type, String name) {
        return switch (type) {
            case "lock" -> redisson.getLock(name);
            case "read" -> redisson.getReadWriteLock(name).readLock();
            case "write" -> redisson.getReadWriteLock(name).writeLock();
            case "fair" -> redisson.getFairLock(name);
            case "spin" -> redisson.getSpinLock(name);
            case "multi" -> redisson.getMultiLock(members(name));
            case "red" -> new RedissonRedLock(members(name));
            case "non-reentrant-fair" -> byName("getNonReentrantFairLock", NAME, name);
            case "fenced" -> byName("getFencedLock", NAME, name);
            case "nonReentrant" -> byName("getNonReentrantLock", NAME, name);
            case "group" -> byName("getMultiLock", GROUP, name, List.of("a value"));
            default -> throw new IllegalArgumentException("no such lock type: " + type);
        };
    }

    /** Names with commas between them, in the order in which Java is to take them. */
    private RLock[] members(String names) {
        return Stream.of(names.split(",")).map(redisson::getLock).toArray(RLock[]::new);
    }

    /** For the locks that the oldest Redisson does not have. */
    private RLock byName(String getter, Class<?>[] types, Object... arguments) {
        try {
            return (RLock) RedissonClient.class.getMethod(getter, types).invoke(redisson, arguments);
        } catch (NoSuchMethodException | IllegalAccessException absent) {
            throw new UnsupportedOperationException("this Redisson has no " + getter, absent);
        } catch (InvocationTargetException failure) {
            throw new IllegalStateException(failure.getCause());
        }
    }
}

package rlock.peer;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.UnaryOperator;

/** Calls setters by name, for settings that are not in every Redisson, or not in the same place or package. */
final class Settings {
    private Settings() {
    }

    /** Tries the targets in turn; false when none of them has the setter. */
    static boolean set(String setter, Object value, Object... targets) {
        for (Object target : targets) {
            for (Method method : target.getClass().getMethods()) {
                if (method.getName().equals(setter) && method.getParameterCount() == 1 && !method.isBridge()) {
                    call(target, method, fit(value, method.getParameterTypes()[0]));
                    return true;
                }
            }
        }
        return false;
    }

    private static void call(Object target, Method method, Object value) {
        try {
            method.invoke(target, value);
        } catch (InvocationTargetException failure) {
            throw new IllegalArgumentException(method.getName() + ": " + failure.getCause(), failure.getCause());
        } catch (IllegalAccessException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static Object fit(Object value, Class<?> type) {
        if (type == int.class) {
            return ((Number) value).intValue();
        }
        if (type == long.class) {
            return ((Number) value).longValue();
        }
        if (type.isEnum()) {
            return Enum.valueOf((Class) type, (String) value);
        }
        if (value instanceof Map<?, ?> functions) {
            return implement(type, (Map<String, UnaryOperator<Object>>) functions);
        }
        return value;
    }

    /** An interface of one-argument methods, by name; its package moved between versions. */
    private static Object implement(Class<?> type, Map<String, UnaryOperator<Object>> functions) {
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, args) -> {
            UnaryOperator<Object> function = functions.get(method.getName());
            if (function != null) {
                return function.apply(args[0]);
            }
            return switch (method.getName()) {
                case "hashCode" -> System.identityHashCode(proxy);
                case "equals" -> proxy == args[0];
                case "toString" -> type.getSimpleName();
                default -> throw new UnsupportedOperationException(method.toString());
            };
        });
    }
}

/** The whiles that the threads of a contention let pass. */
final class Pauses {
    private Pauses() {
    }

    static void random(long[] range) throws InterruptedException {
        Thread.sleep(ThreadLocalRandom.current().nextLong(range[0], range[1] + 1));
    }

    /** While the lock is held: mostly "holdMs", in about one of "longHoldEvery" sections "longHoldMs". */
    static void hold(Command command) throws InterruptedException {
        long every = command.number("longHoldEvery", 0);
        boolean isLong = every > 0 && ThreadLocalRandom.current().nextLong(every) == 0;
        random(command.range(isLong ? "longHoldMs" : "holdMs"));
    }

    /** An unreachable server must not turn the loop into a busy one. */
    static void afterFailure() {
        try {
            Thread.sleep(50);
        } catch (InterruptedException unexpected) {
            Thread.currentThread().interrupt();
        }
    }
}

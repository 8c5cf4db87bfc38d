package rlock.peer;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.redisson.api.RedissonClient;

/** Calls any method of any object that a getter of the client gives, by name; a future is waited for. */
final class Objects {
    private final Map<String, Object> known = new ConcurrentHashMap<>();
    private final RedissonClient redisson;

    Objects(RedissonClient redisson) {
        this.redisson = redisson;
    }

    /** One object for each getter and name, as a service would keep it. */
    Object call(Command command) throws Throwable {
        String getter = command.required("getter");
        String name = command.required("name");
        Method get = find(RedissonClient.class, getter, String.class);
        Object target = known.computeIfAbsent(getter + '\n' + name, absent -> invokeUnchecked(get, name));
        JsonArray args = command.fields().get("args").getAsJsonArray();
        Object value = invoke(get.getReturnType(), target, command.required("method"), args);
        return value instanceof Future<?> future ? result(future) : value;
    }

    private static Object result(Future<?> future) throws Throwable {
        try {
            return future.get();
        } catch (ExecutionException failure) {
            throw failure.getCause();
        }
    }

    private static Method find(Class<?> type, String name, Class<?>... parameters) {
        try {
            return type.getMethod(name, parameters);
        } catch (NoSuchMethodException absent) {
            throw new UnsupportedOperationException("this Redisson has no " + name, absent);
        }
    }

    private Object invokeUnchecked(Method get, String name) {
        try {
            return get.invoke(redisson, name);
        } catch (ReflectiveOperationException failure) {
            throw new IllegalStateException(failure);
        }
    }

    private static Object invoke(Class<?> type, Object target, String name, JsonArray args) throws Throwable {
        for (Method method : type.getMethods()) {
            if (!method.getName().equals(name) || method.getParameterCount() != args.size()) {
                continue;
            }
            Object[] values = convert(args, method.getParameterTypes());
            if (values == null) {
                continue;
            }
            try {
                return method.invoke(target, values);
            } catch (InvocationTargetException failure) {
                throw failure.getCause();
            }
        }
        throw new UnsupportedOperationException("this Redisson has no " + name + " for " + args);
    }

    private static Object[] convert(JsonArray args, Class<?>[] types) {
        Object[] values = new Object[types.length];
        for (int i = 0; i < types.length; i++) {
            values[i] = convert(args.get(i), types[i]);
            if (values[i] == null) {
                return null;
            }
        }
        return values;
    }

    private static Object convert(JsonElement arg, Class<?> type) {
        if (arg.isJsonArray()) {
            List<String> texts = new ArrayList<>();
            arg.getAsJsonArray().forEach(each -> texts.add(each.getAsString()));
            return type.isInstance(texts) ? texts : null;
        }
        if (arg.getAsJsonPrimitive().isNumber()) {
            if (type == int.class) {
                return arg.getAsInt();
            }
            if (type == long.class) {
                return arg.getAsLong();
            }
            return type == Duration.class ? Duration.ofMillis(arg.getAsLong()) : null;
        }
        if (type == String.class) {
            return arg.getAsString();
        }
        return constant(type, arg.getAsString());
    }

    /** The constant of an enum, such as a TimeUnit, or null. */
    private static Object constant(Class<?> type, String name) {
        Object[] constants = type.getEnumConstants();
        if (constants == null) {
            return null;
        }
        for (Object each : constants) {
            if (((Enum<?>) each).name().equals(name)) {
                return each;
            }
        }
        return null;
    }
}

package rlock.peer;

import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;

/** What RFencedLock adds to RLock, by name: the oldest Redisson has no such interface. */
final class FencedOperations {
    private FencedOperations() {
    }

    /** Calls the overload that takes the times that the command has. */
    static Object perform(RLock lock, Command command) throws InterruptedException {
        List<Class<?>> types = new ArrayList<>();
        List<Object> arguments = new ArrayList<>();
        for (String time : List.of("waitTime", "leaseTime")) {
            if (command.has(time)) {
                types.add(long.class);
                arguments.add(command.number(time, 0));
            }
        }
        if (!types.isEmpty()) {
            types.add(TimeUnit.class);
            arguments.add(TimeUnit.MILLISECONDS);
        }
        try {
            return lock.getClass().getMethod(command.op(), types.toArray(new Class<?>[0]))
                .invoke(lock, arguments.toArray());
        } catch (InvocationTargetException failure) {
            if (failure.getCause() instanceof InterruptedException interrupted) {
                throw interrupted;
            }
            if (failure.getCause() instanceof RuntimeException thrown) {
                throw thrown;
            }
            throw new IllegalStateException(failure.getCause());
        } catch (NoSuchMethodException | IllegalAccessException absent) {
            throw new UnsupportedOperationException("no such operation of this lock: " + command.op(), absent);
        }
    }
}

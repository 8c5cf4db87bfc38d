package rlock.peer;

import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RFuture;
import org.redisson.api.RLock;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

/** The operations of an RLock by name, run on the calling thread. Times are milliseconds. */
final class LockOperations {
    private LockOperations() {
    }

    static Object perform(RLock lock, Command command) throws InterruptedException {
        switch (command.op()) {
            case "lockAsync":
                return lockAsync(lock, command);
            case "unlockAsync":
                return result(lock.unlockAsync(threadId(command)));
            case "lock":
                return lock(lock, command);
            case "tryLock":
                return tryLock(lock, command);
            case "unlock":
                lock.unlock();
                return null;
            case "forceUnlock":
                return lock.forceUnlock();
            case "isLocked":
                return lock.isLocked();
            case "isHeldByCurrentThread":
                return lock.isHeldByCurrentThread();
            case "getHoldCount":
                return lock.getHoldCount();
            case "remainTimeToLive":
                return lock.remainTimeToLive();
            case "getName":
                return lock.getName();
            case "getToken":
            case "lockAndGetToken":
            case "tryLockAndGetToken":
                return FencedOperations.perform(lock, command);
            default:
                throw new IllegalArgumentException("no such operation: " + command.op());
        }
    }

    /** However the command says to wait: as long as it takes, or for "waitTime". */
    static boolean acquire(RLock lock, Command command) throws InterruptedException {
        if (command.has("waitTime")) {
            return tryLock(lock, command);
        }
        lock(lock, command);
        return true;
    }

    /** A command without a lease calls the overload without one: that is what starts the watchdog. */
    static Object lock(RLock lock, Command command) {
        if (command.has("leaseTime")) {
            lock.lock(command.number("leaseTime", 0), MILLISECONDS);
        } else {
            lock.lock();
        }
        return null;
    }

    static boolean tryLock(RLock lock, Command command) throws InterruptedException {
        if (command.has("leaseTime")) {
            return lock.tryLock(command.number("waitTime", 0), command.number("leaseTime", 0), MILLISECONDS);
        }
        if (command.has("waitTime")) {
            return lock.tryLock(command.number("waitTime", 0), MILLISECONDS);
        }
        return lock.tryLock();
    }

    /** As the reactive and coroutine users of Redisson call it, with a thread id of their own. */
    private static Object lockAsync(RLock lock, Command command) throws InterruptedException {
        if (command.has("leaseTime")) {
            return result(lock.lockAsync(command.number("leaseTime", 0), MILLISECONDS, threadId(command)));
        }
        return result(lock.lockAsync(threadId(command)));
    }

    /** A text in the command: JSON of JavaScript has no 64-bit numbers. */
    private static long threadId(Command command) {
        return Long.parseLong(command.required("threadId"));
    }

    private static Object result(RFuture<?> future) throws InterruptedException {
        try {
            return future.get();
        } catch (ExecutionException failure) {
            throw new IllegalStateException(failure.getCause());
        }
    }
}

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

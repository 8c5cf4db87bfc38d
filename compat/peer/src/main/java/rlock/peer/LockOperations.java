package rlock.peer;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import org.redisson.api.RLock;

/** The operations of an RLock by name, run on the calling thread. Times are milliseconds. */
final class LockOperations {
    private LockOperations() {
    }

    static Object perform(RLock lock, Command command) throws InterruptedException {
        switch (command.op()) {
            case "lock":
                return lock(lock, command);
            case "lockInterruptibly":
                return lockInterruptibly(lock, command);
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
            case "isHeldByThread":
                return lock.isHeldByThread(Long.parseLong(command.required("threadId")));
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

    private static Object lockInterruptibly(RLock lock, Command command) throws InterruptedException {
        if (command.has("leaseTime")) {
            lock.lockInterruptibly(command.number("leaseTime", 0), MILLISECONDS);
        } else {
            lock.lockInterruptibly();
        }
        return null;
    }
}

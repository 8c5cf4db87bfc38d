package rlock.peer;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * A named Java thread that runs its commands in order. It is never replaced, whatever its
 * commands throw, because to Redisson the thread is who holds the lock.
 */
final class LogicalThread {
    private final BlockingQueue<Runnable> commands = new LinkedBlockingQueue<>();
    private final Thread thread;
    private boolean busy;

    LogicalThread(String name) {
        thread = new Thread(this::run, name);
        thread.setDaemon(true);
        thread.start();
    }

    void submit(Runnable command) {
        commands.add(command);
    }

    /** Interrupts the command being run; false when there is none. An interrupt never leaks into the next command. */
    synchronized boolean interruptRunning() {
        if (busy) {
            thread.interrupt();
        }
        return busy;
    }

    private void run() {
        while (true) {
            Runnable command;
            try {
                command = commands.take();
            } catch (InterruptedException stray) {
                continue;
            }
            setBusy(true);
            try {
                command.run();
            } finally {
                setBusy(false);
            }
        }
    }

    private synchronized void setBusy(boolean value) {
        busy = value;
        Thread.interrupted();
    }
}

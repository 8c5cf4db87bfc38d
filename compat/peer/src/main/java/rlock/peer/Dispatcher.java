package rlock.peer;

import com.google.gson.JsonParser;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BooleanSupplier;
import org.redisson.api.RedissonClient;

/** Hands each command to the logical thread it names and answers it. */
final class Dispatcher {
    private final Map<String, ExecutorService> threads = new ConcurrentHashMap<>();
    private final RedissonClient redisson;
    private final Locks locks;
    private final Objects objects;
    private final Answers answers;
    private final Contention contention;

    Dispatcher(String peerName, RedissonClient redisson, PeerConfig config, Answers answers) {
        this.redisson = redisson;
        this.answers = answers;
        this.locks = new Locks(redisson);
        this.objects = new Objects(redisson);
        this.contention = new Contention(peerName, redisson, locks, config);
    }

    void accept(String line) {
        Command command = new Command(new Fields(JsonParser.parseString(line)));
        switch (command.op()) {
            // On the reader's thread: no other thread matters.
            case "stopContending" -> answer(command, contention::stop);
            case "contend" -> {
                // From here on it can be stopped, whenever its thread gets to it.
                BooleanSupplier stopped = contention.stopSignal();
                thread(command).submit(() -> answer(command, () -> contention.run(command, stopped)));
            }
            case "shutdown" -> shutdown(command);
            default -> thread(command).submit(() -> answer(command, () -> perform(command)));
        }
    }

    private Object perform(Command command) throws Throwable {
        return switch (command.op()) {
            case "threadId" -> Thread.currentThread().getId();
            case "call" -> objects.call(command);
            case "configuration" -> redisson.getConfig().toYAML();
            case "describe" -> Description.of(command.text("interface", "org.redisson.api.RLock"));
            default -> LockOperations.perform(locks.get(command), command);
        };
    }

    private void shutdown(Command command) {
        answer(command, () -> {
            redisson.shutdown();
            return null;
        });
        Runtime.getRuntime().halt(0);
    }

    private void answer(Command command, Locks.Work work) {
        long started = System.nanoTime();
        Object value;
        try {
            value = work.run();
        } catch (Throwable failure) {
            answers.failed(command.id(), failure, started);
            return;
        }
        answers.succeeded(command.id(), value, started);
    }

    /** A Java thread for each name, never replaced: to Redisson the thread is who holds the lock. */
    private ExecutorService thread(Command command) {
        return threads.computeIfAbsent(command.thread(), name -> Executors.newSingleThreadExecutor(run -> {
            Thread thread = new Thread(run, name);
            thread.setDaemon(true);
            return thread;
        }));
    }
}

/** One line from the driver. */
record Command(Fields fields) {
    long id() {
        return fields.number("id", -1);
    }

    String thread() {
        return fields.text("thread", "main");
    }

    String op() {
        return fields.text("op", "");
    }

    boolean has(String field) {
        return fields.has(field);
    }

    String text(String field, String otherwise) {
        return fields.text(field, otherwise);
    }

    long number(String field, long otherwise) {
        return fields.number(field, otherwise);
    }

    long[] range(String field) {
        return fields.range(field);
    }

    String required(String field) {
        return fields.get(field).getAsString();
    }
}

/** What a call on a lock came to: its answer, or what it threw instead of one. */
record Outcome(boolean yes, String failure) {
    private static final int LONGEST = 200;

    static Outcome of(Callable<Boolean> call) {
        try {
            return new Outcome(call.call(), null);
        } catch (Exception failure) {
            String text = failure.getClass().getName() + ": " + failure.getMessage();
            return new Outcome(false, text.substring(0, Math.min(LONGEST, text.length())));
        }
    }
}

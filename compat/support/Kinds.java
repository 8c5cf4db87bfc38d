import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.List;
import java.util.concurrent.locks.Lock;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Takes and releases locks of every kind of Redisson, as lines of standard input say: `lock KIND NAME`, `unlock`, both
 * answered by a line when done. Arguments: the address, and lockWatchdogTimeout in ms.
 */
public class Kinds {
    public static void main(String[] arguments) throws Exception {
        Config config = new Config();
        config.useSingleServer().setAddress(arguments[0]);
        config.setLockWatchdogTimeout(Long.parseLong(arguments[1]));
        RedissonClient redisson = Redisson.create(config);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        Lock held = null;
        System.out.println("ready");
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ");
            if (words[0].equals("lock")) {
                held = lockOf(redisson, words[1], words[2]);
                held.lock();
            } else {
                held.unlock();
            }
            System.out.println(words[0] + "ed");
        }
        redisson.shutdown();
    }

    private static RLock lockOf(RedissonClient redisson, String kind, String name) {
        return switch (kind) {
            case "getLock" -> redisson.getLock(name);
            case "getNonReentrantLock" -> redisson.getNonReentrantLock(name);
            case "getMultiLock" -> redisson.getMultiLock(redisson.getLock(name), redisson.getLock(name + ":other"));
            case "getMultiLock(group)" -> redisson.getMultiLock(name, List.of("a value"));
            case "getFencedLock" -> redisson.getFencedLock(name);
            case "getFairLock" -> redisson.getFairLock(name);
            case "getSpinLock" -> redisson.getSpinLock(name);
            case "getWriteLock" -> redisson.getReadWriteLock(name).writeLock();
            default -> throw new IllegalArgumentException(kind);
        };
    }
}

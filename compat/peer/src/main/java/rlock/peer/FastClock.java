package rlock.peer;

import static net.bytebuddy.matcher.ElementMatchers.any;
import static net.bytebuddy.matcher.ElementMatchers.named;

import java.lang.invoke.MethodHandles;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.asm.MemberSubstitution;
import net.bytebuddy.dynamic.ClassFileLocator;
import net.bytebuddy.dynamic.loading.ClassLoadingStrategy;
import net.bytebuddy.pool.TypePool;
import org.redisson.Redisson;

/** A wrong clock for the leases of permits: so many ms ahead, by -Dpeer.clockAhead. */
public final class FastClock {
    private static final String JUDGE_OF_LEASES = "org.redisson.RedissonPermitExpirableSemaphore";
    private static final long AHEAD = Long.getLong("peer.clockAhead", 0);

    private FastClock() {
    }

    /** What Redisson asks in place of System's. */
    public static long currentTimeMillis() {
        return System.currentTimeMillis() + AHEAD;
    }

    /** Before the first semaphore: a class that is loaded stays as it is. */
    static void install() throws ReflectiveOperationException {
        if (AHEAD == 0) {
            return;
        }
        ClassLoader loader = Redisson.class.getClassLoader();
        new ByteBuddy()
            .redefine(TypePool.Default.of(loader).describe(JUDGE_OF_LEASES).resolve(), ClassFileLocator.ForClassLoader.of(loader))
            .visit(MemberSubstitution.relaxed()
                .method(named("currentTimeMillis"))
                .replaceWith(FastClock.class.getMethod("currentTimeMillis"))
                .on(any()))
            .make()
            .load(loader, ClassLoadingStrategy.UsingLookup.of(
                MethodHandles.privateLookupIn(Redisson.class, MethodHandles.lookup())));
    }
}

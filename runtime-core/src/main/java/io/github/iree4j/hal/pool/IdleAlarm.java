package io.github.iree4j.hal.pool;

import io.github.iree4j.async.HeldCallbacks;
import java.lang.ref.WeakReference;
import java.util.concurrent.Executor;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Wakes a set when its slabs may have been idle long enough, even when the set is not used. One alarm at a time. The
 * alarm references the set weakly: an unreachable set is not woken. Guarded by the lock of the set.
 */
final class IdleAlarm {
    private final LongFunction<Executor> delayed;
    private boolean set;

    IdleAlarm(LongFunction<Executor> delayed) {
        this.delayed = delayed;
    }

    boolean isSet() {
        return set;
    }

    /** Wakes the set after {@code nanos} nanoseconds, unless an alarm is set already. */
    void arm(PoolSet pools, long nanos) {
        if (set) {
            return;
        }
        set = true;
        Runnable wake = waking(new WeakReference<>(pools));
        HeldCallbacks.run(() -> delayed.apply(nanos).execute(wake)); // foreign code: not under the lock
    }

    private static Runnable waking(WeakReference<@Nullable PoolSet> reference) {
        return () -> {
            PoolSet pools = reference.get();
            if (pools != null) {
                pools.woken();
            }
        };
    }

    /** Records that the alarm has gone off. */
    void rang() {
        set = false;
    }
}

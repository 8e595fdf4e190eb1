package io.github.iree4j.hal.pool;

import io.github.iree4j.async.HeldCallbacks;
import java.lang.ref.WeakReference;
import java.util.concurrent.Executor;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Wakes a set once its slabs may have been idle for long enough, also when nothing else happens to it. One alarm at a time. It does not
 * keep the set: one that nobody has any more is not woken. Guarded by the lock of the set.
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

    /** Wakes the set after some nanoseconds, unless it is going to be woken anyway. */
    void arm(PoolSet pools, long nanos) {
        if (set) {
            return;
        }
        set = true;
        Runnable wake = waking(new WeakReference<>(pools));
        HeldCallbacks.run(() -> delayed.apply(nanos).execute(wake)); // others' code: not under the lock
    }

    private static Runnable waking(WeakReference<@Nullable PoolSet> reference) {
        return () -> {
            PoolSet pools = reference.get();
            if (pools != null) {
                pools.woken();
            }
        };
    }

    /** It has gone off. */
    void rang() {
        set = false;
    }
}

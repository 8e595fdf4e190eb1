package io.github.iree4j.hal.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;

/** Calls that hold memory and ask for more. The test advances the clock, and so runs the due looks. */
abstract class DeadlockLine extends MemoryLine {
    static final long HALF = 64;
    static final long LONG = 100 * DeadlockDetector.CONFIRM_NANOS;

    final List<Look> looks = new ArrayList<>();

    record Look(long at, Runnable action) {}

    @BeforeEach
    void nothingIsUnderWay() {
        tracker.register(AXIS);
        busy = false;
    }

    final PoolSetBuilder halves() {
        return builder(2 * HALF).pool(FakeSlabs.pieces("f", HALF)).delayed(this::after);
    }

    final Executor after(long nanos) {
        return action -> looks.add(new Look(clock.get() + nanos, action));
    }

    /** Advances the clock and runs the looks due by then. */
    final void pass(long nanos) {
        long end = clock.get() + nanos;
        for (Look next; (next = first(end)) != null; ) {
            looks.remove(next);
            clock.set(Math.max(clock.get(), next.at));
            next.action.run();
        }
        clock.set(end);
    }

    private @Nullable Look first(long end) {
        Look first = null;
        for (Look each : looks) {
            if (each.at <= end && (first == null || each.at < first.at)) {
                first = each;
            }
        }
        return first;
    }

    /** A call that asks for half and is suspended meanwhile. */
    final void askFor(PoolSet set, MemoryHolder call, String name) {
        MemoryHolder before = call.enter();
        ask(set, name, HALF);
        call.leave(before);
    }

    /** The same, charged to a consumer; the release is not announced. */
    final void askAs(PoolSet set, MemoryHolder call, String name, String consumer) {
        MemoryHolder before = call.enter();
        set.reserve(ReservationRequest.of(HALF).withConsumer(consumer), (reservation, failure) -> {
            if (reservation != null) {
                got.put(name, reservation);
            } else {
                failed.put(name, failure);
            }
        });
        call.leave(before);
    }

    final MemoryHolder holding(PoolSet set, String name) {
        MemoryHolder call = new MemoryHolder(name, new OperationsUnderWay());
        askFor(set, call, name);
        assertThat(got).containsKey(name);
        return call;
    }

    record Deadlock(PoolSet set, MemoryHolder a, MemoryHolder b) {}

    /** Two calls that each hold half of the memory and ask for the other's half. */
    final Deadlock deadlock(PoolSetBuilder halves) {
        PoolSet set = halves.build();
        Deadlock deadlock = new Deadlock(set, holding(set, "a"), holding(set, "b"));
        askFor(set, deadlock.a, "more for a");
        askFor(set, deadlock.b, "more for b");
        return deadlock;
    }
}

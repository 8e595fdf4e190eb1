package io.github.iree4j.hal.remote;

import io.github.iree4j.hal.stream.DriverTimeline;
import io.github.iree4j.lifetime.Resource;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A counter of a remote device, as known to this node: the completions of a lane, or a counter of the host. A value is
 * reached, or has ended, or neither is known yet. A value of a lost device only ends: the value will never be reached,
 * and everything before has ended.
 */
final class RemoteTimeline extends Resource implements DriverTimeline {
    private final RemoteDriver driver;
    private final @Nullable RemoteLane lane; // lane whose tickets are counted
    private final Set<Waiter> waiters = new LinkedHashSet<>(0); // guarded by this
    private volatile long value; // written under this
    private long over; // guarded by this; at least the value

    private record Waiter(long value, Runnable action) {}

    RemoteTimeline(RemoteDriver driver, @Nullable RemoteLane lane, long value) {
        this.driver = driver;
        this.lane = lane;
        this.value = value;
        this.over = value;
    }

    @Nullable
    RemoteLane lane() {
        return lane;
    }

    @Override
    public long value() {
        driver.checkNotLost();
        return value;
    }

    long reached() {
        return value;
    }

    boolean hasReached(long wanted) {
        return value >= wanted;
    }

    @Override
    public void signal(long next) {
        driver.checkNotLost();
        raise(next);
        if (lane != null) {
            lane.signalled(next); // others may wait for the value at the peer
        }
    }

    /** Raises the counter, and continues the waiters for the value. */
    void raise(long next) {
        synchronized (this) {
            if (next <= value) {
                return;
            }
            value = next;
        }
        end(next);
        driver.changed();
    }

    /** Ends everything up to a value, and continues the waiters for the value. */
    void end(long next) {
        List<Runnable> due = new ArrayList<>(0);
        synchronized (this) {
            if (next <= over) {
                return;
            }
            over = next;
            waiters.removeIf(each -> {
                boolean isDue = each.value <= next;
                if (isDue) {
                    due.add(each.action);
                }
                return isDue;
            });
        }
        due.forEach(Runnable::run);
    }

    /** Returns whether a value is reached or has ended; if not, the action runs later: once for each awaited value. */
    boolean isOverOrThen(long wanted, Runnable action) {
        synchronized (this) {
            if (over >= wanted) {
                return true;
            }
            waiters.add(new Waiter(wanted, action));
            return false;
        }
    }

    /** Forgets an action that need not run any more. */
    void forget(long wanted, Runnable action) {
        synchronized (this) {
            waiters.remove(new Waiter(wanted, action));
        }
    }

    @Override
    protected void destroy() {}
}

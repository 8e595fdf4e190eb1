package io.github.iree4j.hal.remote;

import io.github.iree4j.hal.stream.DriverTimeline;
import io.github.iree4j.lifetime.Resource;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A counter of a remote device, as this node knows it: what a lane has completed, or a counter of the host. */
final class RemoteTimeline extends Resource implements DriverTimeline {
    private final RemoteDriver driver;
    private final @Nullable RemoteLane lane; // whose tickets it counts
    private final Set<Waiter> waiters = new LinkedHashSet<>(0); // guarded by this
    private volatile long value; // written under this

    private record Waiter(long value, Runnable action) {}

    RemoteTimeline(RemoteDriver driver, @Nullable RemoteLane lane, long value) {
        this.driver = driver;
        this.lane = lane;
        this.value = value;
    }

    RemoteDriver driver() {
        return driver;
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

    boolean hasReached(long wanted) {
        return value >= wanted;
    }

    @Override
    public void signal(long next) {
        driver.checkNotLost();
        raise(next);
        if (lane != null) {
            lane.signalled(next); // others may wait for it at the peer
        }
    }

    /** Raises it, and continues what waits for that. */
    void raise(long next) {
        List<Runnable> due = new ArrayList<>(0);
        synchronized (this) {
            if (next <= value) {
                return;
            }
            value = next;
            take(next, due);
        }
        due.forEach(Runnable::run);
        driver.changed();
    }

    private void take(long reached, List<Runnable> due) {
        waiters.removeIf(each -> {
            boolean isDue = each.value <= reached;
            if (isDue) {
                due.add(each.action);
            }
            return isDue;
        });
    }

    /** Whether a value is reached; if not, the action runs once it is, or the device is lost: once for each value that it waits for. */
    boolean isReachedOrThen(long wanted, Runnable action) {
        synchronized (this) {
            if (value >= wanted || driver.isLost()) {
                return true;
            }
            waiters.add(new Waiter(wanted, action));
            return false;
        }
    }

    /** The device is lost: nothing waits for this any more. */
    void abandon() {
        List<Runnable> due = new ArrayList<>();
        synchronized (this) {
            take(Long.MAX_VALUE, due);
        }
        due.forEach(Runnable::run);
    }

    @Override
    protected void destroy() {}
}

package io.github.iree4j.hal.stream;

import io.github.iree4j.async.CallThreads;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A participant of a group on a device, and the participant's lane. The thread of {@link Communicators} joins, watches and ends the participant. */
final class Communicator {
    /*
     * STREAM-9: the native communicator is used only while valid: under the lock of this object, after a check that the
     * participant still takes part. The thread ends the native communicator once, when the participant is aborted or
     * has left. The lane is closed after the last submission, or when the device is lost.
     */
    private enum State {
        NEW,
        JOINING,
        JOINED,
        LEAVING,
        ENDED
    }

    /** How long other participants may take to leave as well. A guess. */
    private static final long LEAVING_NANOS = 2_000_000_000;

    private final Communicators watch;
    private final StreamCollectives library;
    private final StreamDriver device;
    private final Lane lane;
    private final Supplier<String> id;
    private final int rank;
    private final int count;
    private final Consumer<@Nullable IreeException> told;
    private volatile boolean aborting;
    private volatile @Nullable IreeException broken; // error reported by the library, or null; written before aborting
    private volatile boolean closing;

    // Guarded by this.
    private State state = State.NEW;
    private long handle;
    private long deadline;
    private final List<Runnable> atEnd = new ArrayList<>(0);

    Communicator(
            Communicators watch,
            StreamCollectives library,
            StreamDriver device,
            Supplier<String> id,
            int rank,
            int count,
            Consumer<@Nullable IreeException> told) {
        this.watch = watch;
        this.library = library;
        this.device = device;
        this.id = id;
        this.rank = rank;
        this.count = count;
        this.told = told;
        this.lane = library.openLane(device);
    }

    StreamDriver device() {
        return device;
    }

    Lane lane() {
        return lane;
    }

    int count() {
        return count;
    }

    synchronized long handle() {
        checkTakesPart();
        return handle;
    }

    /** Ends the participant's work without result, soon. Repeatable; any thread. */
    void abort() {
        aborting = true;
        watch.wake();
    }

    /** Leaves the group. The participant's submissions have ended. Safe from any thread. */
    void close() {
        closing = true;
        watch.wake();
    }

    /**
     * Checks that the participant has not been aborted.
     *
     * @throws IreeException ABORTED
     */
    void checkTakesPart() {
        if (aborting) {
            IreeException cause = broken;
            throw cause != null
                    ? cause
                    : IreeException.of(StatusCode.ABORTED, "the channel of this participant has failed or is closed");
        }
    }

    /** Returns whether the library still works on the last call. */
    synchronized boolean isPending() {
        checkTakesPart();
        return library.isPending(device, handle);
    }

    /** Returns whether an early poll is worthwhile. */
    synchronized boolean isBusy() {
        return state != State.JOINED || closing;
    }

    /** Advances the state, on the thread; returns whether the lane is closed. */
    boolean step() {
        try {
            if (go()) {
                elsewhere(() -> told.accept(null));
            }
        } catch (RuntimeException | Error e) {
            IreeException cause = e instanceof IreeException own
                    ? own
                    : IreeException.of(StatusCode.INTERNAL, "a participant failed: " + e, e);
            broken = cause; // a collective may find this cause before the group is notified
            aborting = true;
            elsewhere(() -> told.accept(cause));
        }
        List<Runnable> due;
        boolean closes;
        synchronized (this) {
            if (state != State.ENDED) {
                return false;
            }
            due = List.copyOf(atEnd);
            atEnd.clear();
            closes = closing;
        }
        due.forEach(Communicator::elsewhere);
        if (closes) {
            library.closeLane(device, lane);
        }
        return closes;
    }

    /** Runs a callback on another thread: the callback may end the device, which waits for this thread. */
    private static void elsewhere(Runnable action) {
        CallThreads.start("iree4j-participant", action);
    }

    /** Runs an action on another thread, once the library uses only work already given to the lane. */
    void whenEnded(Runnable action) {
        synchronized (this) {
            atEnd.add(action);
        }
        watch.wake();
    }

    /** Performs a step; returns whether the participant has joined in this step. */
    private synchronized boolean go() {
        if (aborting || closing && state == State.JOINING) {
            end(true);
        }
        switch (state) {
            case NEW -> {
                if (closing) {
                    state = State.ENDED;
                } else {
                    handle = library.join(device, id.get(), rank, count);
                    state = State.JOINING;
                }
            }
            case JOINING -> {
                if (!library.isPending(device, handle)) {
                    state = State.JOINED;
                    return true;
                }
            }
            case JOINED -> {
                library.isPending(device, handle); // throws after a failure
                if (closing && !aborting) {
                    library.leave(device, handle);
                    deadline = System.nanoTime() + LEAVING_NANOS;
                    state = State.LEAVING;
                }
            }
            case LEAVING -> {
                if (!library.isPending(device, handle)) {
                    end(false);
                } else if (System.nanoTime() - deadline > 0) {
                    end(true);
                }
            }
            case ENDED -> {}
        }
        return false;
    }

    private void end(boolean aborts) {
        if (handle != 0) {
            library.end(device, handle, aborts);
            handle = 0;
        }
        state = State.ENDED;
    }
}

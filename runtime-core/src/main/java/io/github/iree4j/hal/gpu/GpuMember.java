package io.github.iree4j.hal.gpu;

import io.github.iree4j.hal.stream.Communicator;
import io.github.iree4j.hal.stream.Lane;
import io.github.iree4j.nativeaccess.GpuCollectives;
import io.github.iree4j.nativeaccess.GpuDevice;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** A participant on one device: a communicator, and a lane of its own. The thread of {@link GpuMembers} makes, watches and ends it. */
final class GpuMember implements Communicator {
    /*
     *   joining -> joined -> leaving -> ended -> closed
     *        \_________\________\_____/   by abort, or on failure once it is closed
     */
    private enum State {
        NEW,
        JOINING,
        JOINED,
        LEAVING,
        ENDED
    }

    /** How long others may take to leave as well. */
    private static final long LEAVING_NANOS = 2_000_000_000;

    private final GpuMembers members;
    private final GpuCollectives library;
    private final GpuHardware hardware;
    private final GpuLane lane;
    private final LongSupplier join;
    private final Consumer<@Nullable IreeException> told;
    private volatile long place; // rank in the lower half, count in the upper
    private volatile boolean aborting;
    private volatile boolean closing;

    // Guarded by this: the native communicator is used only while it is there.
    private State state = State.NEW;
    private long comm;
    private long deadline;

    /**
     * Creates a participant, and its lane.
     *
     * @param join makes the communicator
     */
    GpuMember(
            GpuMembers members,
            GpuCollectives library,
            GpuHardware hardware,
            LongSupplier join,
            Consumer<@Nullable IreeException> told) {
        this.members = members;
        this.library = library;
        this.hardware = hardware;
        this.join = join;
        this.told = told;
        this.lane = hardware.openLane();
    }

    GpuHardware hardware() {
        return hardware;
    }

    private GpuDevice device() {
        return hardware.device();
    }

    synchronized long comm() {
        checkNotAborted();
        return comm;
    }

    GpuLane gpuLane() {
        return lane;
    }

    @Override
    public Lane lane() {
        return lane;
    }

    @Override
    public int rank() {
        return (int) place;
    }

    @Override
    public int count() {
        return (int) (place >>> Integer.SIZE);
    }

    @Override
    public Communicator split(int color, int key, Consumer<@Nullable IreeException> state) {
        return members.add(hardware, () -> library.split(device(), comm(), color, key), state);
    }

    @Override
    public void abort() {
        aborting = true;
        members.wake();
    }

    @Override
    public void close() {
        closing = true;
        members.wake();
    }

    /**
     * Checks that it takes part.
     *
     * @throws IreeException ABORTED
     */
    void checkNotAborted() {
        if (aborting) {
            throw new IreeException(StatusCode.ABORTED, "a participant of the channel has failed or is closed");
        }
    }

    /** Whether the library still works on what it was given. */
    synchronized boolean isPending() {
        checkNotAborted();
        return library.isPending(device(), comm);
    }

    /** On the thread of members: goes on; returns whether it is closed. */
    boolean step() {
        try {
            boolean joined;
            synchronized (this) {
                joined = go();
            }
            if (joined) {
                told.accept(null);
            }
        } catch (RuntimeException | Error e) {
            aborting = true;
            told.accept(
                    e instanceof IreeException cause
                            ? cause
                            : new IreeException(StatusCode.INTERNAL, "a participant failed: " + e, e));
        }
        if (closing && isEnded() && (lane.isIdle() || device().isLost())) {
            hardware.closeLane(lane);
            return true;
        }
        return false;
    }

    private synchronized boolean isEnded() {
        return state == State.ENDED;
    }

    /** Whether the others are waited for, so that a look soon is worth it. */
    synchronized boolean isBusy() {
        return state != State.JOINED || closing;
    }

    private boolean go() {
        if (aborting && state != State.ENDED || closing && state == State.JOINING) {
            end(true);
        }
        switch (state) {
            case NEW -> {
                if (closing) {
                    state = State.ENDED;
                } else {
                    state = State.ENDED; // if this fails
                    comm = join.getAsLong();
                    state = State.JOINING;
                }
            }
            case JOINING -> {
                if (!library.isPending(device(), comm)) {
                    place = library.place(device(), comm);
                    state = State.JOINED;
                    return true;
                }
            }
            case JOINED -> {
                library.isPending(device(), comm); // or it has failed
                if (closing) {
                    library.leave(device(), comm);
                    deadline = System.nanoTime() + LEAVING_NANOS;
                    state = State.LEAVING;
                }
            }
            case LEAVING -> {
                if (!library.isPending(device(), comm)) {
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
        if (comm != 0) {
            library.end(device(), comm, aborts);
            comm = 0;
        }
        state = State.ENDED;
    }
}

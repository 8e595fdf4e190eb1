package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.schedule.ConstantViews;
import io.github.iree4j.status.IreeException;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An operation on buffers whose commands are recorded when it is issued, for one execution. Its buffers are retained while it is
 * in flight, and their storage is pinned once it has its place.
 */
abstract class TransferOperation extends StreamOperation implements StreamWork {
    /** In place of the index of a buffer. */
    static final int NONE = -1;

    final StreamDevice device;
    private final Lane lane;
    private final @Nullable Object context;
    private final UsedBuffer[] buffers;
    private StreamStorage[] storages = new StreamStorage[0]; // of the buffers, once they are pinned
    private int pinned; // how many of the buffers, from the first
    private @Nullable ConstantViews<ConstantCopy> constant; // while it is retained: that it writes
    private @Nullable ConstantCopy claimed; // of its call, the same
    private Object user = this; // of the copy, the same: the call, or this operation
    private @Nullable TransferCommands recorded;
    private @Nullable DriverCommands ready; // commands to be submitted

    /**
     * Creates an operation.
     *
     * @param name name for messages
     * @param queue the queue that runs it
     * @param buffers the buffers that it uses
     */
    TransferOperation(String name, StreamQueue queue, UsedBuffer... buffers) {
        super(name);
        this.device = queue.streamDevice();
        this.lane = queue.lane();
        this.context = lane.context();
        this.buffers = buffers;
    }

    /** Returns the index of the buffer that it writes; {@link #NONE} when it only reads. */
    int target() {
        return NONE;
    }

    /** Writes the commands; {@link #storage} returns what they use. */
    abstract void encode(TransferCommands commands);

    /** Whether it runs even when its end is unobservable, because it affects others besides its waiters. */
    boolean runsInAnyCase() {
        return false;
    }

    /** Whether the hardware has nothing to do. */
    abstract boolean isEmpty();

    /** Returns the storage of one of the buffers, once pinned. */
    final StreamStorage storage(int buffer) {
        return storages[buffer];
    }

    @Override
    protected final void placed() {
        storages = new StreamStorage[buffers.length];
        for (UsedBuffer buffer : buffers) {
            storages[pinned] = buffer.seenBy(buffer.pin(this), user);
            pinned++;
        }
    }

    @Override
    final @Nullable StreamWork prepare() {
        IreeException cause = stopCause();
        if (cause != null && !runsInAnyCase()) {
            throw cause;
        }
        if (isEmpty()) {
            return null;
        }
        TransferCommands commands = device.encoder().transfers(lane);
        try {
            encode(commands);
            ready = commands.finish(name());
        } catch (RuntimeException | Error e) {
            commands.release();
            throw e;
        }
        recorded = commands;
        return this;
    }

    @Override
    public final DriverCommands commands() {
        return Objects.requireNonNull(ready);
    }

    @Override
    public final @Nullable Object context() {
        return context;
    }

    @Override
    public final void over() {
        TransferCommands commands = recorded;
        if (commands != null) {
            recorded = null;
            ready = null;
            commands.release();
        }
    }

    @Override
    protected void retain() {
        int retained = 0;
        try {
            for (UsedBuffer buffer : buffers) {
                buffer.retain();
                retained++;
            }
            claim();
        } catch (RuntimeException | Error e) {
            for (int i = 0; i < retained; i++) {
                buffers[i].release();
            }
            throw e;
        }
    }

    /** Gives the call a copy of a constant that is written here. */
    private void claim() {
        MemoryHolder call = call();
        user = call == null ? this : call;
        constant = target() == NONE ? null : buffers[target()].copies();
        if (constant != null) {
            claimed = constant.begin(user);
        }
    }

    @Override
    protected void release() {
        for (; pinned > 0; pinned--) {
            buffers[pinned - 1].unpin(storages[pinned - 1]);
        }
        if (constant != null && claimed != null) {
            constant.end(claimed, user);
        }
        Arrays.fill(storages, StreamStorage.NONE);
        for (UsedBuffer buffer : buffers) {
            buffer.release();
        }
    }
}

package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.schedule.ConstantViews;
import io.github.iree4j.status.IreeException;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An operation on buffers, with commands recorded at issue for a single execution. The buffers are retained while the
 * operation is in flight. The storage of the buffers is pinned once the operation has a place in the order.
 */
abstract class TransferOperation extends StreamOperation implements StreamWork {
    /** No buffer, in place of an index. */
    static final int NONE = -1;

    final StreamDevice device;
    private final Lane lane;
    private final @Nullable Object context;
    private final UsedBuffer[] buffers;
    private StreamStorage[] storages = new StreamStorage[0]; // storage of the pinned buffers
    private int pinned; // number of pinned buffers, counted from the first
    // views of the written constant while the operation is retained, or null
    private @Nullable ConstantViews<ConstantCopy> constant;
    private @Nullable ConstantCopy claimed; // copy of the constant made for the enclosing call, or null
    private Object user = this; // user of the constant's copy: the call, or this operation
    private @Nullable TransferCommands recorded;
    private @Nullable DriverCommands ready; // commands to be submitted

    /**
     * Creates an operation.
     *
     * @param name name for messages
     * @param queue the queue running the operation
     * @param buffers the buffers used by the operation
     */
    TransferOperation(String name, StreamQueue queue, UsedBuffer... buffers) {
        super(name);
        this.device = queue.streamDevice();
        this.lane = queue.lane();
        this.context = lane.context();
        this.buffers = buffers;
    }

    /** Returns the index of the written buffer; {@link #NONE} for an operation without writes. */
    int target() {
        return NONE;
    }

    /** Returns the file, retained as the buffers are; null for an operation without a file. */
    @Nullable
    HalFile file() {
        return null;
    }

    /** Writes the commands; {@link #storage} returns the storage of the buffers. */
    abstract void encode(TransferCommands commands);

    /**
     * Returns whether the operation runs even without an observable end, because not only the waiters depend on the
     * operation.
     */
    boolean runsInAnyCase() {
        return false;
    }

    /** Returns whether the hardware has nothing to do. */
    abstract boolean isEmpty();

    /** Returns the storage of a buffer, once pinned. */
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
        HalFile file = file();
        if (file != null) {
            file.retain();
        }
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
            if (file != null) {
                file.release();
            }
            throw e;
        }
    }

    /** Claims a copy of the written constant for the enclosing call, or for this operation. */
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
        HalFile file = file();
        if (file != null) {
            file.release();
        }
    }
}

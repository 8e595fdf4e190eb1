package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.Fence;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.FrontierCounters;
import io.github.iree4j.hal.HostCall;
import io.github.iree4j.hal.PendingOperation;
import io.github.iree4j.hal.QueueCommand;
import io.github.iree4j.hal.QueueCounters;
import io.github.iree4j.hal.QueuePeaks;
import io.github.iree4j.hal.StreamCounters;
import io.github.iree4j.status.IreeException;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A queue with operations ordered by a {@link QueueScheduler}. For backends, which create the operations. Contains the
 * steps shared by all backends before a submission, and the transfers that a buffer's own device must perform. Safe
 * from any thread.
 *
 * @param <B> the buffers allocated by the backend
 */
public abstract class ScheduledQueue<B extends StoredBuffer<?>> implements DeviceQueue {
    private final int index;
    private final QueueScheduler scheduler;
    private final Class<B> own;

    /**
     * For backends.
     *
     * @param index of the queue on its device
     * @param scheduler orders the operations
     * @param own the buffers allocated by the backend
     */
    protected ScheduledQueue(int index, QueueScheduler scheduler, Class<B> own) {
        this.index = index;
        this.scheduler = scheduler;
        this.own = own;
    }

    /**
     * Creates a buffer with storage coming in queue order.
     *
     * @param params the kind of memory
     * @param size bytes
     * @param placement bits of {@link Buffer#placement()}
     * @return the buffer, owned by the caller
     */
    protected abstract B reserved(BufferParams params, long size, int placement);

    /**
     * Creates the operation that gives a buffer its storage.
     *
     * @param buffer the buffer from {@link #reserved}
     * @param params the parameters passed to {@link #reserved}
     * @param reuse whether the operation may reuse memory freed behind work that precedes the operation
     * @return the operation
     */
    protected abstract QueueOperation allocation(B buffer, BufferParams params, boolean reuse);

    /**
     * Creates the operation that takes a buffer's storage away; a barrier if {@link StoredBuffer#isFreedInQueueOrder}
     * is false.
     *
     * @param buffer any buffer
     * @return the operation
     * @throws IreeException for a closed buffer, or a buffer of another device
     */
    protected abstract QueueOperation deallocation(Buffer buffer);

    /**
     * Creates an empty operation.
     *
     * @return the operation
     */
    protected abstract QueueOperation barrier();

    /**
     * Creates an operation running user code.
     *
     * @param call the code
     * @param detached whether the code is only started, with no signal waiting for the end
     * @return the operation
     */
    protected abstract QueueOperation hostCall(HostCall call, boolean detached);

    /**
     * Submits work of this backend. Buffers are of this driver's memory, or refused by this device.
     *
     * @param wait points to wait for; null for none
     * @param signal points to signal; null for none
     * @param work the work; the bytes of an update are valid until return
     */
    protected abstract void submitWork(@Nullable Fence wait, @Nullable Fence signal, QueueCommand.Work work);

    /**
     * Passes an operation to the scheduler.
     *
     * @param wait points to wait for; null for none
     * @param signal points to signal; null for none
     * @param make creates the operation; a thrown exception is the operation's failure
     * @return the failure so far, carried by the fence; null for none
     * @throws IreeException as {@link QueueScheduler#submit} does
     */
    protected final @Nullable IreeException schedule(
            @Nullable Fence wait, @Nullable Fence signal, Supplier<? extends QueueOperation> make) {
        return scheduler.submit(wait, signal, make);
    }

    /**
     * Returns the scheduler of the operations.
     *
     * @return the scheduler
     */
    public final QueueScheduler scheduler() {
        return scheduler;
    }

    @Override
    public final int index() {
        return index;
    }

    @Override
    public final long axis() {
        return scheduler.axis();
    }

    @Override
    public final QueueCounters counters() {
        return scheduler.counters();
    }

    @Override
    public final QueuePeaks takePeaks() {
        return scheduler.takePeaks();
    }

    @Override
    public final List<PendingOperation> inFlight(int limit) {
        return scheduler.inFlight(limit);
    }

    @Override
    public final List<PendingOperation> pending(int limit) {
        return scheduler.pending(limit);
    }

    @Override
    public final Frontier frontier() {
        return scheduler.frontier();
    }

    @Override
    public final StreamCounters streamCounters() {
        return scheduler.streamCounters();
    }

    @Override
    public final FrontierCounters frontierCounters() {
        return scheduler.frontierCounters();
    }

    @Override
    public final Buffer alloca(
            @Nullable Fence wait, @Nullable Fence signal, BufferParams params, long size, long flags) {
        int placement = Buffer.PLACEMENT_ASYNCHRONOUS
                | ((flags & ALLOCA_INDETERMINATE_LIFETIME) != 0 ? Buffer.PLACEMENT_INDETERMINATE_LIFETIME : 0);
        B buffer = reserved(params, size, placement);
        boolean reuse = (flags & ALLOCA_ALLOW_POOL_WAIT_FRONTIER) != 0;
        try {
            IreeException failure = schedule(wait, signal, () -> allocation(buffer, params, reuse));
            if (failure != null) {
                buffer.fail(failure); // so that users of the handle see the root cause
            }
        } catch (IreeException e) {
            buffer.close();
            throw e;
        }
        return buffer;
    }

    @Override
    public final void submit(@Nullable Fence wait, @Nullable Fence signal, QueueCommand command) {
        switch (command) {
            case QueueCommand.Work work -> {
                DeviceQueue elsewhere = elsewhere(work);
                if (elsewhere != null) {
                    elsewhere.submit(wait, signal, work);
                } else {
                    submitWork(wait, signal, work);
                }
            }
            case QueueCommand.Dealloca freed -> submit(wait, signal, freed);
            case QueueCommand.Barrier _ -> schedule(wait, signal, this::barrier);
            case QueueCommand.Call call -> {
                boolean detached = (call.flags() & HOST_CALL_NON_BLOCKING) != 0;
                schedule(wait, signal, () -> hostCall(call.code(), detached));
            }
            case QueueCommand.DeferredCall call -> {
                CallCompletion completion = new CallCompletion(scheduler);
                schedule(
                        wait,
                        signal,
                        () -> completion.of(hostCall(() -> call.code().begin(completion), false)));
            }
        }
    }

    private void submit(@Nullable Fence wait, @Nullable Fence signal, QueueCommand.Dealloca freed) {
        Buffer buffer = freed.buffer();
        Buffer allocated = buffer.allocatedBuffer();
        if (allocated.origin() instanceof DeviceQueue origin
                && !origin.equals(this)
                && ((freed.flags() & DEALLOCA_PREFER_ORIGIN) != 0
                                && origin.device().equals(device())
                        || isForeign(allocated))) {
            origin.dealloca(wait, signal, buffer, 0);
            return;
        }
        schedule(wait, signal, () -> deallocation(buffer));
    }

    /**
     * Returns whether a device other than this queue's device moves bytes between the host and a buffer, and frees the
     * buffer.
     *
     * @param allocated an allocation
     * @return true for an allocation of another backend
     */
    protected boolean isForeign(Buffer allocated) {
        return allocated instanceof StoredBuffer<?> && !own.isInstance(allocated);
    }

    /** Returns a queue of another device, to move bytes between the host and memory of this other device; null for other work. */
    private @Nullable DeviceQueue elsewhere(QueueCommand.Work work) {
        return switch (work) {
            case QueueCommand.Update update -> elsewhere(update.target());
            case QueueCommand.Read read -> elsewhere(read.target());
            case QueueCommand.Write write -> elsewhere(write.source());
            case QueueCommand.Fill _, QueueCommand.Copy _, QueueCommand.Dispatch _, QueueCommand.Execute _ -> null;
        };
    }

    /** Returns a queue of the buffer's own device, to move bytes between the host and another driver's buffer usable by this device. */
    private @Nullable DeviceQueue elsewhere(Buffer buffer) {
        return buffer.allocatedBuffer() instanceof StoredBuffer<?> stored
                        && isForeign(stored)
                        && device().memoryObstacle(stored.device()).isEmpty()
                ? stored.device().queue(0)
                : null;
    }

    @Override
    public final void flush() {
        // Nothing is batched: decided operations are submitted at once.
    }
}

package io.github.iree4j.hal.stream;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.HostCall;
import io.github.iree4j.hal.QueueCommand;
import io.github.iree4j.hal.pool.ReservationRequest;
import io.github.iree4j.hal.record.RecordedCommandBuffer;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.schedule.QueueScheduler;
import io.github.iree4j.hal.schedule.ScheduledQueue;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/** A queue of a {@link StreamDevice}; a {@link HardwareStream} puts the operations on the hardware. */
final class StreamQueue extends ScheduledQueue<StreamBuffer> {
    private final StreamDevice device;
    private final HardwareStream stream;

    // Separate for each queue: a queue awaited by a call of the user must not lack staging memory or windows held by
    // operations behind the call.
    private final Staging staging;
    private final Semaphore windows = new Semaphore(FileWindow.LIMIT, true);

    StreamQueue(StreamDevice device, int index, HardwareStream stream, QueueScheduler scheduler) {
        super(index, scheduler, StreamBuffer.class);
        this.device = device;
        this.stream = stream;
        this.staging = Staging.of(device.memory());
    }

    StreamDevice streamDevice() {
        return device;
    }

    HardwareStream stream() {
        return stream;
    }

    /** Returns the staging memory for transfers with memory not host-visible. */
    Staging staging() {
        return staging;
    }

    /** Returns a permit for each further {@link FileWindow} to be registered. */
    Semaphore windows() {
        return windows;
    }

    /** Returns the lane for the queue's commands. */
    Lane lane() {
        return stream.queue().lane;
    }

    /**
     * Refuses dispatches on copy-only hardware.
     *
     * @throws IreeException FAILED_PRECONDITION
     */
    void checkComputes() {
        if (!lane().computes()) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    "queue %d of device '%s' only copies; dispatches run on queue 0".formatted(index(), device.id()));
        }
    }

    @Override
    public Device device() {
        return device;
    }

    @Override
    protected StreamBuffer reserved(BufferParams params, long size, int placement) {
        return StreamBuffer.reserved(device, params, size, this, placement);
    }

    @Override
    protected QueueOperation allocation(StreamBuffer buffer, BufferParams params, boolean reuse) {
        StreamMemory memory = device.memory();
        ReservationRequest request = memory.request(params, buffer.kind(), buffer.length());
        return new Allocations.Alloca(buffer, memory, reuse ? request.preferringReuse() : request);
    }

    @Override
    protected QueueOperation deallocation(Buffer buffer) {
        StreamBuffer own = StreamBuffer.of(device, "deallocated buffer", buffer);
        return own.isFreedInQueueOrder() ? new Allocations.Dealloca(this, own) : new HostOperations.Barrier();
    }

    @Override
    protected boolean isForeign(Buffer allocated) {
        return super.isForeign(allocated)
                || allocated instanceof StreamBuffer peer && !peer.device().equals(device);
    }

    @Override
    protected QueueOperation barrier() {
        return new HostOperations.Barrier();
    }

    @Override
    protected QueueOperation hostCall(HostCall call, boolean detached) {
        return new HostOperations.Call(call, detached);
    }

    @Override
    protected void submitWork(@Nullable Fence wait, @Nullable Fence signal, QueueCommand.Work work) {
        switch (work) {
            case QueueCommand.Fill fill -> schedule(wait, signal, () -> BufferTransfers.fill(this, fill));
            case QueueCommand.Copy copy -> schedule(wait, signal, () -> BufferTransfers.copy(this, copy));
            case QueueCommand.Update update ->
                TransferPlan.submit(this, wait, signal, () -> BufferTransfers.update(this, update));
            case QueueCommand.Read read ->
                TransferPlan.submit(this, wait, signal, () -> FileTransfers.read(this, read));
            case QueueCommand.Write write ->
                TransferPlan.submit(this, wait, signal, () -> FileTransfers.write(this, write));
            case QueueCommand.Dispatch dispatch -> dispatch(wait, signal, dispatch);
            case QueueCommand.Execute execute -> execute(wait, signal, execute.commands(), execute.bindings());
        }
    }

    private void dispatch(@Nullable Fence wait, @Nullable Fence signal, QueueCommand.Dispatch dispatch) {
        // A command buffer of a single command, owned here; a waiting submission retains it.
        BindingTable bindings = dispatch.bindings();
        try (RecordedCommandBuffer commands = RecordedForms.ofDispatch(device, bindings.size())) {
            schedule(wait, signal, () -> {
                checkComputes();
                commands.recordDispatchOfSlots(dispatch);
                return Executions.dispatch(this, commands, bindings);
            });
        }
    }

    private void execute(
            @Nullable Fence wait, @Nullable Fence signal, CommandBuffer commands, @Nullable BindingTable bindings) {
        if (RecordedForms.isOf(device, commands)
                && commands instanceof RecordedCommandBuffer own
                && !own.collectives().isEmpty()) {
            new StreamCollectiveExecution(this, own, bindings).submit(wait, signal);
            return;
        }
        schedule(wait, signal, () -> Executions.execute(this, commands, bindings));
    }
}

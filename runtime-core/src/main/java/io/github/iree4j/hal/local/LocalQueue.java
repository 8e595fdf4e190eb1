package io.github.iree4j.hal.local;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.HostCall;
import io.github.iree4j.hal.pool.ReservationRequest;
import io.github.iree4j.hal.record.RecordedCommandBuffer;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.schedule.QueueScheduler;
import io.github.iree4j.hal.schedule.ScheduledQueue;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** A queue of operations executed by the host. */
final class LocalQueue extends ScheduledQueue<LocalBuffer> {
    private final HostDevice device;

    LocalQueue(HostDevice device, int index, QueueScheduler scheduler) {
        super(index, scheduler, LocalBuffer.class);
        this.device = device;
    }

    @Override
    public Device device() {
        return device;
    }

    @Override
    protected LocalBuffer reserved(BufferParams params, long size, int placement) {
        return LocalBuffer.reserved(device.memory(), params, size, this, placement);
    }

    @Override
    protected QueueOperation allocation(LocalBuffer buffer, BufferParams params, boolean reuse) {
        ReservationRequest request = HostMemory.request(params, buffer.length());
        return new Alloca(buffer, device.memory().pools(), reuse ? request.preferringReuse() : request);
    }

    @Override
    protected QueueOperation deallocation(Buffer buffer) {
        LocalBuffer local = Operations.live("deallocated buffer", buffer);
        return local.isFreedInQueueOrder() ? new Dealloca(local) : new Operations.Barrier();
    }

    @Override
    protected QueueOperation barrier() {
        return new Operations.Barrier();
    }

    @Override
    protected QueueOperation hostCall(HostCall call, boolean detached) {
        return detached ? new Operations.DetachedCall(call) : new Operations.Call(call);
    }

    @Override
    public void fill(
            @Nullable Fence wait,
            @Nullable Fence signal,
            Buffer target,
            long offset,
            long length,
            long pattern,
            int patternLength,
            long flags) {
        submit(
                wait,
                signal,
                () -> Operations.fill(device.callerRunners(), target, offset, length, pattern, patternLength));
    }

    @Override
    public void copy(
            @Nullable Fence wait,
            @Nullable Fence signal,
            Buffer source,
            long sourceOffset,
            Buffer target,
            long targetOffset,
            long length,
            long flags) {
        submit(
                wait,
                signal,
                () -> Operations.copy(device.callerRunners(), source, sourceOffset, target, targetOffset, length));
    }

    @Override
    protected void submitUpdate(
            @Nullable Fence wait, @Nullable Fence signal, MemorySegment source, Buffer target, long targetOffset) {
        submit(wait, signal, () -> new Operations.Update(source, target, targetOffset));
    }

    @Override
    protected void submitRead(
            @Nullable Fence wait,
            @Nullable Fence signal,
            HalFile source,
            long sourceOffset,
            Buffer target,
            long targetOffset,
            long length) {
        submit(wait, signal, () -> Operations.FileTransfer.read(source, sourceOffset, target, targetOffset, length));
    }

    @Override
    protected void submitWrite(
            @Nullable Fence wait,
            @Nullable Fence signal,
            Buffer source,
            long sourceOffset,
            HalFile target,
            long targetOffset,
            long length) {
        submit(wait, signal, () -> Operations.FileTransfer.write(source, sourceOffset, target, targetOffset, length));
    }

    @Override
    public void dispatch(
            @Nullable Fence wait,
            @Nullable Fence signal,
            Executable executable,
            int export,
            DispatchConfig config,
            int[] constants,
            BindingTable bindings,
            long flags) {
        // A command buffer of a single command, owned here; a waiting submission retains the command buffer.
        try (RecordedCommandBuffer commands =
                RecordedCommandBuffer.ofDispatch(LocalCommands.INSTANCE, bindings.size())) {
            submit(wait, signal, () -> {
                commands.recordDispatchOfSlots(executable, export, config, constants, flags);
                return Operations.Execute.dispatch(commands, bindings, device.callerRunners());
            });
        }
    }

    @Override
    public void execute(
            @Nullable Fence wait,
            @Nullable Fence signal,
            CommandBuffer commands,
            @Nullable BindingTable bindings,
            long flags) {
        RecordedCommandBuffer own = own(commands);
        if (own != null && !own.collectives().isEmpty()) {
            new LocalCollectives(scheduler(), own, bindings, device.callerRunners()).submit(wait, signal);
            return;
        }
        submit(wait, signal, () -> {
            if (own == null) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT, "command buffer was not created by device '" + device.id() + "'");
            }
            return new Operations.Execute(own, bindings, device.callerRunners());
        });
    }

    /** Returns null for a command buffer of another driver. */
    private static @Nullable RecordedCommandBuffer own(CommandBuffer commands) {
        return commands instanceof RecordedCommandBuffer recorded
                        && recorded.backend().equals(LocalCommands.INSTANCE)
                ? recorded
                : null;
    }
}

package io.github.iree4j.hal.local;

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
    protected void submitWork(@Nullable Fence wait, @Nullable Fence signal, QueueCommand.Work work) {
        switch (work) {
            case QueueCommand.Fill fill -> schedule(wait, signal, () -> Operations.fill(device.callerRunners(), fill));
            case QueueCommand.Copy copy -> schedule(wait, signal, () -> Operations.copy(device.callerRunners(), copy));
            case QueueCommand.Update update -> schedule(wait, signal, () -> new Operations.Update(update));
            case QueueCommand.Read read -> schedule(wait, signal, () -> Operations.FileTransfer.read(read));
            case QueueCommand.Write write -> schedule(wait, signal, () -> Operations.FileTransfer.write(write));
            case QueueCommand.Dispatch dispatch -> dispatch(wait, signal, dispatch);
            case QueueCommand.Execute execute -> execute(wait, signal, execute.commands(), execute.bindings());
        }
    }

    private void dispatch(@Nullable Fence wait, @Nullable Fence signal, QueueCommand.Dispatch dispatch) {
        // A command buffer of a single command, owned here; a waiting submission retains the command buffer.
        BindingTable bindings = dispatch.bindings();
        try (RecordedCommandBuffer commands =
                RecordedCommandBuffer.ofDispatch(LocalCommands.INSTANCE, bindings.size())) {
            schedule(wait, signal, () -> {
                commands.recordDispatchOfSlots(dispatch);
                return Operations.Execute.dispatch(commands, bindings, device.callerRunners());
            });
        }
    }

    private void execute(
            @Nullable Fence wait, @Nullable Fence signal, CommandBuffer commands, @Nullable BindingTable bindings) {
        RecordedCommandBuffer own = own(commands);
        if (own != null && !own.collectives().isEmpty()) {
            new LocalCollectives(scheduler(), own, bindings, device.callerRunners()).submit(wait, signal);
            return;
        }
        schedule(wait, signal, () -> {
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

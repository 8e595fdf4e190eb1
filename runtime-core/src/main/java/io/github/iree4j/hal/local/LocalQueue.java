package io.github.iree4j.hal.local;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.HostCall;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A queue of the local device. An operation whose waits are reached runs on the thread that submits it; any other is kept and runs
 * on the thread that resolves the last of them.
 */
final class LocalQueue implements DeviceQueue {
    private final LocalDevice device;
    private final int index;

    LocalQueue(LocalDevice device, int index) {
        this.device = device;
        this.index = index;
    }

    @Override
    public Device device() {
        return device;
    }

    @Override
    public int index() {
        return index;
    }

    @Override
    public Buffer alloca(@Nullable Fence wait, @Nullable Fence signal, BufferParams params, long size, long flags) {
        int placement = Buffer.PLACEMENT_ASYNCHRONOUS
                | ((flags & ALLOCA_INDETERMINATE_LIFETIME) != 0 ? Buffer.PLACEMENT_INDETERMINATE_LIFETIME : 0);
        LocalBuffer buffer = LocalBuffer.reserved(device.memory(), params, size, this, placement);
        try {
            IreeException failure = submit(wait, signal, () -> new Operations.Alloca(buffer, params));
            if (failure != null) {
                buffer.fail(failure); // whoever uses the handle gets the root cause
            }
        } catch (IreeException e) {
            buffer.close();
            throw e;
        }
        return buffer;
    }

    @Override
    public void dealloca(@Nullable Fence wait, @Nullable Fence signal, Buffer buffer, long flags) {
        submit(wait, signal, () -> new Operations.Dealloca(buffer));
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
        submit(wait, signal, () -> new Operations.Fill(target, offset, length, pattern, patternLength));
    }

    @Override
    public void update(
            @Nullable Fence wait,
            @Nullable Fence signal,
            MemorySegment source,
            Buffer target,
            long targetOffset,
            long flags) {
        submit(wait, signal, () -> new Operations.Update(source, target, targetOffset));
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
        submit(wait, signal, () -> new Operations.Copy(source, sourceOffset, target, targetOffset, length));
    }

    @Override
    public void read(
            @Nullable Fence wait,
            @Nullable Fence signal,
            HalFile source,
            long sourceOffset,
            Buffer target,
            long targetOffset,
            long length,
            long flags) {
        submit(wait, signal, () -> Operations.FileTransfer.read(source, sourceOffset, target, targetOffset, length));
    }

    @Override
    public void write(
            @Nullable Fence wait,
            @Nullable Fence signal,
            Buffer source,
            long sourceOffset,
            HalFile target,
            long targetOffset,
            long length,
            long flags) {
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
        // A command buffer of one command that this call owns; a submission that has to wait retains it.
        try (LocalCommandBuffer commands =
                new LocalCommandBuffer(CommandBuffer.ONE_SHOT, CommandBuffer.DISPATCH, bindings.size())) {
            submit(wait, signal, () -> {
                List<BufferRef> refs = new ArrayList<>(bindings.size());
                for (int i = 0; i < bindings.size(); i++) {
                    refs.add(BufferRef.slot(i, 0, Buffer.WHOLE));
                }
                commands.dispatch(executable, export, config, constants, refs, flags);
                commands.finish();
                return new Operations.Execute(commands, bindings, device.workers());
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
        submit(wait, signal, () -> {
            if (!(commands instanceof LocalCommandBuffer local)) {
                throw new IreeException(
                        StatusCode.INVALID_ARGUMENT, "command buffer was not created by device '" + device.id() + "'");
            }
            return new Operations.Execute(local, bindings, device.workers());
        });
    }

    @Override
    public void barrier(@Nullable Fence wait, @Nullable Fence signal, long flags) {
        submit(wait, signal, Operations.Barrier::new);
    }

    @Override
    public void hostCall(@Nullable Fence wait, @Nullable Fence signal, HostCall call, long flags) {
        Objects.requireNonNull(call, "call");
        submit(wait, signal, () -> new Operations.Call(call));
    }

    @Override
    public void flush() {
        // Nothing is gathered.
    }

    /**
     * Makes an operation and runs it, keeps it, or fails its signals.
     *
     * @return why it was not run or kept, when the signals carry that; else null
     */
    private @Nullable IreeException submit(@Nullable Fence wait, @Nullable Fence signal, Supplier<Operation> make) {
        if (signal != null && !signal.isLive()) {
            throw new IreeException(StatusCode.FAILED_PRECONDITION, "signal fence is closed");
        }
        try {
            device.checkOpen();
            Operation operation = make.get();
            if (wait != null) {
                if (!wait.isLive()) {
                    throw new IreeException(
                            StatusCode.FAILED_PRECONDITION, "wait fence of " + operation.name() + " is closed");
                }
                IreeException failed = wait.failure();
                if (failed != null) {
                    throw failed;
                }
                if (!wait.isReached()) {
                    device.pending().add(operation, wait, signal);
                    return null;
                }
            }
            runNow(operation);
        } catch (IreeException e) {
            if (signal == null) {
                throw e;
            }
            signal.fail(e);
            return e;
        }
        if (signal != null) {
            signal.signalOrFail();
        }
        return null;
    }

    /** Runs an operation; whatever it throws becomes a failure with a status. */
    static void runNow(Operation operation) {
        try {
            operation.run();
        } catch (IreeException e) {
            throw e;
        } catch (OutOfMemoryError e) {
            throw new IreeException(
                    StatusCode.RESOURCE_EXHAUSTED, operation.name() + " ran out of Java memory: " + e.getMessage(), e);
        } catch (RuntimeException | Error e) {
            throw new IreeException(StatusCode.INTERNAL, operation.name() + " failed: " + e, e);
        }
    }
}

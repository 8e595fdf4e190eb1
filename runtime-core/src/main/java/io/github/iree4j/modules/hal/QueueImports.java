package io.github.iree4j.modules.hal;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmBuffer;
import io.github.iree4j.vm.VmCall;
import java.lang.foreign.MemorySegment;
import java.util.function.ToLongFunction;

/**
 * {@code hal.device.queue.*}. All arguments begin with device, queue affinity, wait fence and signal fence. A failed
 * operation fails the signal fence, not the call; the queue ensures this.
 */
final class QueueImports {
    private QueueImports() {}

    static void register(NativeModule.Builder<HalState> module) {
        module.function(
                        "device.queue.alloca",
                        "0rIrrIiiII_r",
                        (state, call) -> alloca(state, call, VmCall::i64, Flags.I64))
                .function("device.queue.dealloca", "0rIrrrI_v", (state, call) -> dealloca(state, call, Flags.I64))
                .function("device.queue.fill", "0rIrrrIIIiI_v", QueueImports::fill)
                .function("device.queue.update", "0rIrrrIrIII_v", QueueImports::update)
                .function("device.queue.copy", "0rIrrrIrIII_v", QueueImports::copy)
                .function("device.queue.read", "0rIrrrIrIII_v", (state, call) -> read(state, call, Flags.I64))
                .function("device.queue.write", "0rIrrrIrIII_v", (state, call) -> write(state, call, Flags.I64))
                .function("device.queue.barrier", "0rIrrI_v", QueueImports::barrier)
                .function("device.queue.execute", "0rIrrrI_v", QueueImports::execute)
                .function(
                        "device.queue.execute.indirect",
                        "0rIrrrICrIID_v",
                        (state, call) -> executeIndirect(state, call, Flags.I64))
                .function("device.queue.flush", "0rI_v", QueueImports::flush);
    }

    private static DeviceQueue queue(VmCall call) {
        Device device = call.required(Device.class);
        return device.queueFor(call.i64());
    }

    static void alloca(HalState state, VmCall call, ToLongFunction<VmCall> poolId, Flags flags) {
        Device device = call.required(Device.class);
        long affinity = call.i64();
        Fence wait = call.ref(Fence.class);
        Fence signal = call.ref(Fence.class);
        long pool = poolId.applyAsLong(call);
        if (pool != 0) {
            throw IreeException.of(
                    StatusCode.UNIMPLEMENTED,
                    "hal.device.queue.alloca from pool %d: programs can only use pool 0, the device's own"
                            .formatted(pool));
        }
        BufferParams params = AllocatorImports.params(state, affinity, call);
        long size = call.i64();
        long known = flags.read(call, Arguments.ALLOCA_FLAGS);
        DeviceQueue queue = device.queueFor(affinity);
        call.returnRef(queue.alloca(wait, signal, params, size, known));
        state.submitted(queue, signal);
    }

    static void dealloca(HalState state, VmCall call, Flags flags) {
        DeviceQueue queue = queue(call);
        Fence wait = call.ref(Fence.class);
        Fence signal = call.ref(Fence.class);
        Buffer buffer = call.required(Buffer.class);
        long known = flags.read(call, Arguments.DEALLOCA_FLAGS);
        if (state.module().faults().usesAfterDealloca()) {
            queue.barrier(wait, signal, 0); // keeps the order; the last reference frees the buffer
        } else {
            queue.dealloca(wait, signal, buffer, known);
        }
        state.submitted(queue, signal);
    }

    private static void fill(HalState state, VmCall call) {
        DeviceQueue queue = queue(call);
        Fence wait = call.ref(Fence.class);
        Fence signal = call.ref(Fence.class);
        Buffer target = call.required(Buffer.class);
        long offset = call.i64();
        long length = call.i64();
        long pattern = call.i64();
        int patternLength = call.i32();
        queue.fill(wait, signal, target, offset, length, pattern, patternLength, Flags.I64.read(call, 0));
        state.submitted(queue, signal);
    }

    private static void update(HalState state, VmCall call) {
        DeviceQueue queue = queue(call);
        Fence wait = call.ref(Fence.class);
        Fence signal = call.ref(Fence.class);
        VmBuffer source = call.required(VmBuffer.class);
        long sourceOffset = call.i64();
        Buffer target = call.required(Buffer.class);
        long targetOffset = call.i64();
        MemorySegment bytes = Arguments.bytes("source", source, sourceOffset, call.i64());
        queue.update(wait, signal, bytes, target, targetOffset, Flags.I64.read(call, 0));
        state.submitted(queue, signal);
    }

    private static void copy(HalState state, VmCall call) {
        DeviceQueue queue = queue(call);
        Fence wait = call.ref(Fence.class);
        Fence signal = call.ref(Fence.class);
        Buffer source = call.required(Buffer.class);
        long sourceOffset = call.i64();
        Buffer target = call.required(Buffer.class);
        long targetOffset = call.i64();
        long length = call.i64();
        queue.copy(wait, signal, source, sourceOffset, target, targetOffset, length, Flags.I64.read(call, 0));
        state.submitted(queue, signal);
    }

    static void read(HalState state, VmCall call, Flags flags) {
        DeviceQueue queue = queue(call);
        Fence wait = call.ref(Fence.class);
        Fence signal = call.ref(Fence.class);
        HalFile source = call.required(HalFile.class);
        long sourceOffset = call.i64();
        Buffer target = call.required(Buffer.class);
        long targetOffset = call.i64();
        long length = call.i64();
        queue.read(wait, signal, source, sourceOffset, target, targetOffset, length, flags.read(call, 0));
        state.submitted(queue, signal);
    }

    static void write(HalState state, VmCall call, Flags flags) {
        DeviceQueue queue = queue(call);
        Fence wait = call.ref(Fence.class);
        Fence signal = call.ref(Fence.class);
        Buffer source = call.required(Buffer.class);
        long sourceOffset = call.i64();
        HalFile target = call.required(HalFile.class);
        long targetOffset = call.i64();
        long length = call.i64();
        queue.write(wait, signal, source, sourceOffset, target, targetOffset, length, flags.read(call, 0));
        state.submitted(queue, signal);
    }

    private static void barrier(HalState state, VmCall call) {
        DeviceQueue queue = queue(call);
        Fence wait = call.ref(Fence.class);
        Fence signal = call.ref(Fence.class);
        queue.barrier(wait, signal, Flags.I64.read(call, Arguments.EXECUTE_FLAGS));
        state.submitted(queue, signal);
    }

    private static void execute(HalState state, VmCall call) {
        DeviceQueue queue = queue(call);
        Fence wait = call.ref(Fence.class);
        Fence signal = call.ref(Fence.class);
        CommandBuffer commands = call.required(CommandBuffer.class);
        queue.execute(wait, signal, commands, null, Flags.I64.read(call, Arguments.EXECUTE_FLAGS));
        state.submitted(queue, signal);
    }

    static void executeIndirect(HalState state, VmCall call, Flags flags) {
        DeviceQueue queue = queue(call);
        Fence wait = call.ref(Fence.class);
        Fence signal = call.ref(Fence.class);
        CommandBuffer commands = call.required(CommandBuffer.class);
        long known = flags.read(call, Arguments.EXECUTE_FLAGS);
        // The queue reads the table before returning, so a single table per context suffices.
        BindingTable table = state.bindingTable();
        try {
            for (int n = call.spanCount(); n > 0; n--) {
                table.add(call.ref(Buffer.class), call.i64(), call.i64());
            }
            queue.execute(wait, signal, commands, table, known);
            state.submitted(queue, signal);
        } finally {
            table.clear();
        }
    }

    private static void flush(HalState state, VmCall call) {
        queue(call).flush();
    }
}

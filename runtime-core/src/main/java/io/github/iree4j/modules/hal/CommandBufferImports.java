package io.github.iree4j.modules.hal;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmBuffer;
import io.github.iree4j.vm.VmCall;
import java.lang.foreign.MemorySegment;
import java.util.function.ToLongFunction;

/** {@code hal.command_buffer.*} without dispatches. Dispatches exist in several generations. */
final class CommandBufferImports {
    private CommandBufferImports() {}

    static void register(NativeModule.Builder<HalState> module) {
        module.function("command_buffer.create", "0riiIi_r", CommandBufferImports::create)
                .function("command_buffer.finalize", "0r_v", CommandBufferImports::finish)
                .function("command_buffer.execution_barrier", "0riiI_v", (_, call) -> executionBarrier(call, Flags.I64))
                .function(
                        "command_buffer.fill_buffer",
                        "0rrIIiIiI_v",
                        (_, call) -> fillBuffer(call, VmCall::i64, Flags.I64))
                .function("command_buffer.copy_buffer", "0riirIrIII_v", (_, call) -> copyBuffer(call, Flags.I64))
                .function("command_buffer.update_buffer", "0rrIrIIiI_v", (_, call) -> updateBuffer(call, Flags.I64))
                .function("command_buffer.advise_buffer", "0rrIIIi_v", CommandBufferImports::adviseBuffer)
                .function("command_buffer.collective", "0rriiiirrIIIII_v", CommandBufferImports::collective)
                .function("command_buffer.begin_debug_group", "0rr_v", CommandBufferImports::beginDebugGroup)
                .function("command_buffer.end_debug_group", "0r_v", CommandBufferImports::endDebugGroup);
    }

    private static void create(HalState state, VmCall call) {
        Device device = state.own(call.required(Device.class));
        int modes = Arguments.bits("modes", call.i32(), Arguments.COMMAND_BUFFER_MODES);
        int categories = Arguments.bits("command categories", call.i32(), Arguments.COMMAND_CATEGORIES);
        long affinity = call.i64();
        int bindingCapacity = call.i32();
        call.returnRef(device.createCommandBuffer(modes, categories, affinity, bindingCapacity));
    }

    private static void finish(HalState state, VmCall call) {
        CommandBuffer commands = call.required(CommandBuffer.class);
        state.descriptors().finished(commands);
        commands.finish();
    }

    static void executionBarrier(VmCall call, Flags flags) {
        CommandBuffer commands = call.required(CommandBuffer.class);
        int sourceStages = Arguments.bits("source stages", call.i32(), Arguments.EXECUTION_STAGES);
        int targetStages = Arguments.bits("target stages", call.i32(), Arguments.EXECUTION_STAGES);
        commands.executionBarrier(sourceStages, targetStages, flags.read(call, 0));
    }

    static void fillBuffer(VmCall call, ToLongFunction<VmCall> patternOf, Flags flags) {
        CommandBuffer commands = call.required(CommandBuffer.class);
        Buffer target = call.ref(Buffer.class);
        long offset = call.i64();
        long length = call.i64();
        int slot = call.i32();
        long pattern = patternOf.applyAsLong(call);
        int patternLength = call.i32();
        commands.fillBuffer(new BufferRef(target, slot, offset, length), pattern, patternLength, flags.read(call, 0));
    }

    static void copyBuffer(VmCall call, Flags flags) {
        CommandBuffer commands = call.required(CommandBuffer.class);
        int sourceSlot = call.i32();
        int targetSlot = call.i32();
        Buffer source = call.ref(Buffer.class);
        long sourceOffset = call.i64();
        Buffer target = call.ref(Buffer.class);
        long targetOffset = call.i64();
        long length = call.i64();
        commands.copyBuffer(
                new BufferRef(source, sourceSlot, sourceOffset, length),
                new BufferRef(target, targetSlot, targetOffset, length),
                flags.read(call, 0));
    }

    static void updateBuffer(VmCall call, Flags flags) {
        CommandBuffer commands = call.required(CommandBuffer.class);
        VmBuffer source = call.required(VmBuffer.class);
        long sourceOffset = call.i64();
        Buffer target = call.ref(Buffer.class);
        long targetOffset = call.i64();
        long length = call.i64();
        int slot = call.i32();
        MemorySegment bytes = Arguments.bytes("source", source, sourceOffset, length);
        commands.updateBuffer(bytes, new BufferRef(target, slot, targetOffset, bytes.byteSize()), flags.read(call, 0));
    }

    private static void adviseBuffer(HalState state, VmCall call) {
        CommandBuffer commands = call.required(CommandBuffer.class);
        Buffer buffer = call.ref(Buffer.class);
        long advice = call.i64();
        long argument = call.i64();
        call.i64(); // a second argument, unused by all advice
        int slot = call.i32();
        commands.adviseBuffer(new BufferRef(buffer, slot, 0, Buffer.WHOLE), advice, argument);
    }

    private static void collective(HalState state, VmCall call) {
        CommandBuffer commands = call.required(CommandBuffer.class);
        Channel channel = call.required(Channel.class);
        Collective operation = new Collective(call.i32());
        int parameter = call.i32();
        int sourceSlot = call.i32();
        int targetSlot = call.i32();
        Buffer source = call.ref(Buffer.class);
        Buffer target = call.ref(Buffer.class);
        BufferRef sent = new BufferRef(source, sourceSlot, call.i64(), call.i64());
        BufferRef received = new BufferRef(target, targetSlot, call.i64(), call.i64());
        commands.collective(
                channel, operation, parameter, sent, received, elements(operation, sent, received, call.i64()));
    }

    /**
     * Returns the number of elements sent by a single participant. For an all-gather, compilers since 2024 pass the
     * elements of all participants, other compilers the elements of a single participant: the ranges show the
     * difference.
     */
    private static long elements(Collective operation, BufferRef sent, BufferRef received, long elements) {
        int size = operation.elementSize();
        boolean ofAll = operation.kind() == Collective.ALL_GATHER
                && size != 0 // an unknown type, rejected by the command buffer
                && sent.length() > 0
                && sent.length() < received.length()
                && elements == received.length() / size;
        return ofAll ? sent.length() / size : elements;
    }

    private static void beginDebugGroup(HalState state, VmCall call) {
        CommandBuffer commands = call.required(CommandBuffer.class);
        commands.beginDebugGroup(call.required(VmBuffer.class).utf8());
    }

    private static void endDebugGroup(HalState state, VmCall call) {
        call.required(CommandBuffer.class).endDebugGroup();
    }
}

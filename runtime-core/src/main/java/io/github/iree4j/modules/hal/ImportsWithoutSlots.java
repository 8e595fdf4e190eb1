package io.github.iree4j.modules.hal;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.QueueAffinity;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmCall;

/**
 * Functions imported by compilers up to July 2024: commands name buffers rather than slots of a table passed with each
 * submission, and command buffers are for any queue.
 */
final class ImportsWithoutSlots {
    private static final int NESTED = 0x2;

    private ImportsWithoutSlots() {}

    static void register(NativeModule.Builder<HalState> module) {
        module.function("command_buffer.create", "0riii_r", ImportsWithoutSlots::create)
                .function("command_buffer.fill_buffer", "0rrIIii_v", ImportsWithoutSlots::fillBuffer)
                .function("command_buffer.copy_buffer", "0rrIrII_v", ImportsWithoutSlots::copyBuffer)
                .function("command_buffer.collective", "0rriirIIrIII_v", ImportsWithoutSlots::collective)
                .function("command_buffer.execute.commands", "0rrCrIID_v", (state, call) -> {
                    throw nested();
                });
    }

    private static void create(HalState state, VmCall call) {
        Device device = state.own(call.required(Device.class));
        int modes = call.i32();
        if ((modes & NESTED) != 0) {
            throw nested();
        }
        Arguments.bits("modes", modes, Arguments.COMMAND_BUFFER_MODES);
        int categories = Arguments.bits("command categories", call.i32(), Arguments.COMMAND_CATEGORIES);
        call.returnRef(device.createCommandBuffer(modes, categories, QueueAffinity.ANY, call.i32()));
    }

    /** No compiler emitted nested command buffers; the runtimes of that time supported handwritten modules with nested command buffers. */
    private static IreeException nested() {
        return IreeException.of(
                StatusCode.UNIMPLEMENTED,
                "nested command buffers, which the HAL had until July 2024, are not supported; IREE of July 2024 and later submits "
                        + "command buffers with binding tables in their place (hal.device.queue.execute.indirect)");
    }

    private static void fillBuffer(HalState state, VmCall call) {
        CommandBuffer commands = call.required(CommandBuffer.class);
        Buffer target = call.required(Buffer.class);
        long offset = call.i64();
        long length = call.i64();
        long pattern = Integer.toUnsignedLong(call.i32());
        int patternLength = call.i32();
        commands.fillBuffer(new BufferRef(target, 0, offset, length), pattern, patternLength, 0);
    }

    private static void copyBuffer(HalState state, VmCall call) {
        CommandBuffer commands = call.required(CommandBuffer.class);
        Buffer source = call.required(Buffer.class);
        long sourceOffset = call.i64();
        Buffer target = call.required(Buffer.class);
        long targetOffset = call.i64();
        long length = call.i64();
        commands.copyBuffer(
                new BufferRef(source, 0, sourceOffset, length), new BufferRef(target, 0, targetOffset, length), 0);
    }

    private static void collective(HalState state, VmCall call) {
        CommandBuffer commands = call.required(CommandBuffer.class);
        Channel channel = call.required(Channel.class);
        Collective operation = new Collective(call.i32());
        int parameter = call.i32();
        BufferRef sent = new BufferRef(call.ref(Buffer.class), 0, call.i64(), call.i64());
        BufferRef received = new BufferRef(call.ref(Buffer.class), 0, call.i64(), call.i64());
        // A send-only or receive-only operation has no buffer at the other end.
        commands.collective(
                channel,
                operation,
                parameter,
                sent.buffer() == null ? null : sent,
                received.buffer() == null ? null : received,
                call.i64());
    }
}

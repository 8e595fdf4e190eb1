package io.github.iree4j.modules.hal;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmCall;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Functions imported by compilers up to March 2025 (IREE 3.3): without flags, or with 32 bits of flags where there are 64 now. */
final class ImportsWithoutFlags {
    private ImportsWithoutFlags() {}

    static void register(NativeModule.Builder<HalState> module) {
        module.function("channel.create", "0rIirrii_r", ImportsWithoutFlags::createChannel)
                .function("channel.split", "0riii_r", ImportsWithoutFlags::splitChannel)
                .function(
                        "command_buffer.execution_barrier",
                        "0riii_v",
                        (_, call) -> CommandBufferImports.executionBarrier(call, Flags.I32))
                .function(
                        "command_buffer.fill_buffer",
                        "0rrIIiii_v",
                        (_, call) -> CommandBufferImports.fillBuffer(
                                call, each -> Integer.toUnsignedLong(each.i32()), Flags.NONE))
                .function(
                        "command_buffer.copy_buffer",
                        "0riirIrII_v",
                        (_, call) -> CommandBufferImports.copyBuffer(call, Flags.NONE))
                .function(
                        "command_buffer.update_buffer",
                        "0rrIrIIi_v",
                        (_, call) -> CommandBufferImports.updateBuffer(call, Flags.NONE))
                .function(
                        "device.queue.alloca",
                        "0rIrriiiI_r",
                        (state, call) -> QueueImports.alloca(state, call, VmCall::i32, Flags.NONE))
                .function(
                        "device.queue.dealloca",
                        "0rIrrr_v",
                        (state, call) -> QueueImports.dealloca(state, call, Flags.NONE))
                .function(
                        "device.queue.read",
                        "0rIrrrIrIIi_v",
                        (state, call) -> QueueImports.read(state, call, Flags.I32))
                .function(
                        "device.queue.write",
                        "0rIrrrIrIIi_v",
                        (state, call) -> QueueImports.write(state, call, Flags.I32))
                .function("device.queue.execute", "0rIrrCrD_v", ImportsWithoutFlags::execute)
                .function(
                        "device.queue.execute.indirect",
                        "0rIrrrCrIID_v",
                        (state, call) -> QueueImports.executeIndirect(state, call, Flags.NONE))
                .function("fence.create", "0ri_r", ImportsWithoutFlags::createFence)
                .function("fence.join", "0CrD_r", (state, call) -> FenceImports.returnJoined(state, call))
                .function("fence.await", "0iCrD_i", (state, call) -> FenceImports.await(call, call.i32()));
    }

    private static void createChannel(HalState state, VmCall call) {
        Device device = state.own(call.required(Device.class));
        long affinity = call.i64();
        Flags.I32.read(call, 0);
        ChannelImports.create(state, device, affinity, call);
    }

    private static void splitChannel(HalState state, VmCall call) {
        Channel channel = call.required(Channel.class);
        int color = call.i32();
        int key = call.i32();
        Flags.I32.read(call, 0);
        call.returnRef(channel.split(color, key));
    }

    /** Executes any number of command buffers in order; none is a barrier. */
    private static void execute(HalState state, VmCall call) {
        Device device = call.required(Device.class);
        DeviceQueue queue = device.queueFor(call.i64());
        Fence wait = call.ref(Fence.class);
        Fence signal = call.ref(Fence.class);
        List<CommandBuffer> commands = new ArrayList<>();
        for (int n = call.spanCount(); n > 0; n--) {
            commands.add(call.required(CommandBuffer.class));
        }
        switch (commands.size()) {
            case 0 -> queue.barrier(wait, signal, 0);
            case 1 -> queue.execute(wait, signal, commands.getFirst(), null, 0);
            default -> executeInOrder(device, queue, wait, signal, commands);
        }
    }

    private static void executeInOrder(
            Device device,
            DeviceQueue queue,
            @Nullable Fence wait,
            @Nullable Fence signal,
            List<CommandBuffer> commands) {
        List<Fence> between = new ArrayList<>();
        try (TimelineSemaphore order = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT)) {
            for (int i = 1; i < commands.size(); i++) {
                between.add(Fence.at(order, i));
            }
            for (int i = 0; i < commands.size(); i++) {
                Fence before = i == 0 ? wait : between.get(i - 1);
                Fence after = i == between.size() ? signal : between.get(i);
                queue.execute(before, after, commands.get(i), null, 0);
            }
        } finally {
            between.forEach(Fence::close);
        }
    }

    private static void createFence(HalState state, VmCall call) {
        Device device = call.required(Device.class);
        Flags.I32.read(call, 0);
        FenceImports.create(state, device, call);
    }
}

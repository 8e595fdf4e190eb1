package io.github.iree4j.modules.hal;

import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.Device;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmBuffer;
import io.github.iree4j.vm.VmCall;

/** {@code hal.channel.*}. Whether there are collectives is the device's business; most say UNIMPLEMENTED. */
final class ChannelImports {
    private ChannelImports() {}

    static void register(NativeModule.Builder<HalState> module) {
        module.function("channel.create", "0rIIrrii_r", ChannelImports::create)
                .function("channel.split", "0riiI_r", ChannelImports::split)
                .function("channel.rank_and_count", "0r_ii", ChannelImports::rankAndCount);
    }

    private static void create(HalState state, VmCall call) {
        Device device = call.required(Device.class);
        long affinity = call.i64();
        Arguments.bits("flags", call.i64(), 0);
        VmBuffer id = call.ref(VmBuffer.class);
        VmBuffer group = call.ref(VmBuffer.class);
        if (id != null || group != null) {
            throw new IreeException(
                    StatusCode.UNIMPLEMENTED,
                    "hal.channel.create with an id or a group: channels of devices have neither; compile without named groups");
        }
        int rank = call.i32();
        int count = call.i32();
        call.returnRef(device.createChannel(affinity, rank, count));
    }

    private static void split(HalState state, VmCall call) {
        call.required(Channel.class);
        throw new IreeException(
                StatusCode.UNIMPLEMENTED, "hal.channel.split is not supported; create the smaller channels one by one");
    }

    private static void rankAndCount(HalState state, VmCall call) {
        Channel channel = call.required(Channel.class);
        call.returnI32(channel.rank());
        call.returnI32(channel.count());
    }
}

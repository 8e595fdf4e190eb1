package io.github.iree4j.modules.hal;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.ChannelParams;
import io.github.iree4j.hal.Device;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmBuffer;
import io.github.iree4j.vm.VmCall;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** {@code hal.channel.*}. The device decides whether collectives are supported. */
final class ChannelImports {
    private static final int NAME_LIMIT = 1024;

    private ChannelImports() {}

    static void register(NativeModule.Builder<HalState> module) {
        module.function("channel.create", "0rIIrrii_r", ChannelImports::create)
                .function("channel.split", "0riiI_r", ChannelImports::split)
                .function("channel.rank_and_count", "0r_ii", ChannelImports::rankAndCount);
    }

    private static void create(HalState state, VmCall call) {
        Device device = state.own(call.required(Device.class));
        long affinity = call.i64();
        Arguments.bits("flags", call.i64(), 0);
        create(state, device, affinity, call);
    }

    /** Reads {@code rrii}: id, group, rank and count. */
    static void create(HalState state, Device device, long affinity, VmCall call) {
        String id = name(call.ref(VmBuffer.class));
        String group = name(call.ref(VmBuffer.class));
        int rank = call.i32();
        int count = call.i32();
        call.returnRef(state.channel(device, affinity, new ChannelParams(id, group, rank, count)));
    }

    /** Converts each byte to a character; checks the length before copying. */
    private static String name(@Nullable VmBuffer bytes) {
        if (bytes == null) {
            return "";
        }
        if (bytes.length() > NAME_LIMIT) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "channel id or group of %d bytes; the limit is %d".formatted(bytes.length(), NAME_LIMIT));
        }
        return new String(
                Arguments.bytes("id", bytes, 0, Buffer.WHOLE).toArray(ValueLayout.JAVA_BYTE),
                StandardCharsets.ISO_8859_1);
    }

    private static void split(HalState state, VmCall call) {
        Channel channel = call.required(Channel.class);
        int color = call.i32();
        int key = call.i32();
        Arguments.bits("flags", call.i64(), 0);
        call.returnRef(channel.split(color, key));
    }

    /** For a channel from a split, these are known once all participants have split; until then the call is deferred. */
    private static void rankAndCount(HalState state, VmCall call) {
        Channel channel = call.required(Channel.class);
        Fence ready = channel.ready();
        if (ready != null && ready.query() == StatusCode.DEFERRED && !call.resumed()) {
            call.defer(new FenceWait(List.of(ready), -1));
            return;
        }
        call.returnI32(channel.rank());
        call.returnI32(channel.count());
    }
}

package io.github.iree4j.modules.hal;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmBuffer;
import io.github.iree4j.vm.VmCall;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/** {@code hal.executable.*} */
final class ExecutableImports {
    private static final ValueLayout.OfInt U32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int[] NO_CONSTANTS = {};

    private ExecutableImports() {}

    static void register(NativeModule.Builder<HalState> module) {
        module.function("executable.create", "0rIrrr_r", ExecutableImports::create)
                .function("executable.create", "0rrrr_r", ExecutableImports::createWithoutAffinity)
                // The name during two weeks of August 2024, beside layouts.
                .function("executable.create2", "0rrrr_r", ExecutableImports::createWithoutAffinity)
                .function("executable.lookup.function", "0rr_I", ExecutableImports::lookup);
    }

    private static void create(HalState state, VmCall call) {
        Device device = state.own(call.required(Device.class));
        call.i64(); // queue affinity: an executable serves all queues of a device
        call.returnRef(state.executable(device, params(call)));
    }

    /** From August 2024 to March 2025. */
    private static void createWithoutAffinity(HalState state, VmCall call) {
        Device device = state.own(call.required(Device.class));
        call.returnRef(state.executable(device, params(call)));
    }

    /** Reads {@code rrr}: format, data, constants. */
    static ExecutableParams params(VmCall call) {
        String format = call.required(VmBuffer.class).utf8();
        VmBuffer data = call.required(VmBuffer.class);
        int[] constants = constants(call.ref(VmBuffer.class));
        // Constants of a module are used in place. Other memory could be changed by the program during use.
        return data.isModuleConstant()
                ? new ExecutableParams(format, data.segment(), data.owner(), constants)
                : new ExecutableParams(format, copy(data.segment()), null, constants);
    }

    /** Returns a copy with a lifetime bounded by references. */
    private static MemorySegment copy(MemorySegment bytes) {
        return Arena.ofAuto().allocate(bytes.byteSize(), 16).copyFrom(bytes).asReadOnly();
    }

    private static int[] constants(@Nullable VmBuffer buffer) {
        if (buffer == null) {
            return NO_CONSTANTS;
        }
        if (buffer.length() % Integer.BYTES != 0) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "'constants' has %d bytes, must be a multiple of 4".formatted(buffer.length()));
        }
        return buffer.segment().toArray(U32);
    }

    static void lookup(HalState state, VmCall call) {
        Executable executable = call.required(Executable.class);
        String name = call.required(VmBuffer.class).utf8();
        call.returnI64(executable.lookup(name));
    }
}

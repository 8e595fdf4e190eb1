package io.github.iree4j.modules.hal;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.vm.VmCall;
import java.util.ArrayList;
import java.util.List;

/** Reads the arguments passed by dispatches of all generations after the function of the executable. */
final class DispatchArguments {
    private static final int MAX_BINDINGS = 32;
    private static final long WORKGROUP_COUNTS_SIZE = 3 * Integer.BYTES;

    private DispatchArguments() {}

    /** Reads {@code iiiI CiD CiirIID}: counts x, y, z, flags, constants, bindings; and records the dispatch. */
    static void record(CommandBuffer commands, Executable executable, int export, VmCall call) {
        DispatchConfig config = DispatchConfig.of(call.i32(), call.i32(), call.i32());
        long flags = Arguments.bits("flags", call.i64(), Arguments.DISPATCH_FLAGS);
        int[] constants = constants(call);
        commands.dispatch(executable, export, config, constants, bindings(call), flags);
    }

    /** Reads {@code irII CiD CiirIID}: slot, buffer and offset of the counts, flags, constants, bindings; and records the dispatch. */
    static void recordIndirect(CommandBuffer commands, Executable executable, int export, VmCall call) {
        int slot = call.i32();
        Buffer buffer = call.ref(Buffer.class);
        BufferRef counts = new BufferRef(buffer, slot, call.i64(), WORKGROUP_COUNTS_SIZE);
        long flags = Arguments.bits("flags", call.i64(), Arguments.DISPATCH_FLAGS);
        if ((flags & DeviceQueue.DISPATCH_STATIC_INDIRECT_PARAMETERS) == 0) {
            flags |= DeviceQueue.DISPATCH_DYNAMIC_INDIRECT_PARAMETERS;
        }
        int[] constants = constants(call);
        commands.dispatchIndirect(executable, export, counts, constants, bindings(call), flags);
    }

    private static int[] constants(VmCall call) {
        int[] constants = new int[Arguments.count("constants", call.spanCount(), CommandBuffer.MAXIMUM_CONSTANTS)];
        for (int i = 0; i < constants.length; i++) {
            constants[i] = call.i32();
        }
        return constants;
    }

    private static List<BufferRef> bindings(VmCall call) {
        int count = Arguments.count("bindings", call.spanCount(), MAX_BINDINGS);
        List<BufferRef> bindings = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            call.i32(); // reserved
            int slot = call.i32();
            Buffer buffer = call.ref(Buffer.class);
            bindings.add(new BufferRef(buffer, slot, call.i64(), call.i64()));
        }
        return bindings;
    }
}

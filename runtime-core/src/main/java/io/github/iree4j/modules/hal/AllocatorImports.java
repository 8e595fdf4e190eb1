package io.github.iree4j.modules.hal;

import io.github.iree4j.hal.Allocator;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.copying.CopyingDevice;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmBuffer;
import io.github.iree4j.vm.VmCall;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** {@code hal.allocator.*} and {@code hal.ex.file.from_memory} */
final class AllocatorImports {
    private AllocatorImports() {}

    static void register(NativeModule.Builder<HalState> module) {
        module.function("allocator.select", "0iiICrID_rI", AllocatorImports::select)
                .function("allocator.allocate", "0rIiiI_r", AllocatorImports::allocate)
                .function("allocator.import", "0riIiirII_r", AllocatorImports::importMemory)
                .function("ex.file.from_memory", "0rIirIIi_r", AllocatorImports::fileFromMemory);
    }

    /** Picks the first device with memory usable by all devices, else the first; the compiler lists the devices in order of preference. */
    private static void select(HalState state, VmCall call) {
        Arguments.bits("memory types", call.i32(), Arguments.MEMORY_TYPES);
        Arguments.bits("buffer usage", call.i32(), Arguments.BUFFER_USAGES);
        call.i64();
        int count = call.spanCount();
        if (count == 0) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "'devices' is empty; at least one pair of device and queue affinity is needed");
        }
        List<Device> devices = new ArrayList<>();
        List<Long> affinities = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            devices.add(call.required(Device.class));
            affinities.add(call.i64());
        }
        int picked = CopyingDevice.indexOfShared(devices);
        call.returnRef(devices.get(picked));
        call.returnI64(affinities.get(picked));
    }

    private static void allocate(HalState state, VmCall call) {
        Allocator allocator = call.required(Allocator.class);
        BufferParams params = params(state, call.i64(), call);
        call.returnRef(allocator.allocate(params, call.i64()));
    }

    /** Reads {@code ii}: memory types and buffer usage. */
    static BufferParams params(HalState state, long affinity, VmCall call) {
        int memoryTypes = Arguments.bits("memory types", call.i32(), Arguments.MEMORY_TYPES);
        int usage = Arguments.bits("buffer usage", call.i32(), Arguments.BUFFER_USAGES);
        return state.params(memoryTypes, usage, affinity);
    }

    private static void importMemory(HalState state, VmCall call) {
        Allocator allocator = call.required(Allocator.class);
        boolean isTry = call.i32() != 0;
        importMemory(allocator, isTry, call.i64(), call);
    }

    /**
     * Reads {@code iirII} and wraps memory of the program as a buffer, without a copy. If this is impossible, a program
     * that only tries gets null, and allocates and reads instead.
     */
    static void importMemory(Allocator allocator, boolean isTry, long affinity, VmCall call) {
        int memoryTypes = Arguments.bits("memory types", call.i32(), Arguments.MEMORY_TYPES);
        int usage = Arguments.bits("buffer usage", call.i32(), Arguments.BUFFER_USAGES);
        VmBuffer source = call.required(VmBuffer.class);
        long offset = call.i64();
        long length = call.i64();
        MemorySegment bytes = Arguments.bytes("source", source, offset, length);
        boolean immutableUse = (usage & BufferUsage.SHARING_IMMUTABLE) != 0;
        if (!source.isMutable() && !immutableUse) {
            throw IreeException.of(
                    StatusCode.PERMISSION_DENIED,
                    "'source' is a constant and may be imported with usage SHARING_IMMUTABLE only, not "
                            + BufferUsage.format(usage));
        }
        int access = MemoryAccess.READ | (source.isMutable() && !immutableUse ? MemoryAccess.WRITE : 0);
        BufferParams params =
                new BufferParams(memoryTypes, usage).withAccess(access).withAffinity(affinity);
        Buffer buffer;
        try {
            buffer = allocator.importHost(params, bytes, Arguments.keeper(source));
        } catch (IreeException e) {
            if (!isTry) {
                throw e;
            }
            buffer = null;
        }
        call.returnRef(buffer);
    }

    private static void fileFromMemory(HalState state, VmCall call) {
        call.required(Device.class);
        call.i64(); // queue affinity: memory can be read from any queue
        int access = Arguments.bits("access", call.i32(), Arguments.MEMORY_ACCESSES);
        VmBuffer buffer = call.required(VmBuffer.class);
        long offset = call.i64();
        long length = call.i64();
        Arguments.bits("flags", call.i32(), 0);
        if ((access & ~MemoryAccess.READ) != 0) {
            throw IreeException.of(
                    StatusCode.PERMISSION_DENIED,
                    "memory of a program can be a file for reading only, not for " + MemoryAccess.format(access));
        }
        call.returnRef(
                HalFile.ofMemory(Arguments.bytes("buffer", buffer, offset, length), access, Arguments.keeper(buffer)));
    }
}

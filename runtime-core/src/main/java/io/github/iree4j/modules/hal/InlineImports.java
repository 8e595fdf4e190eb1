package io.github.iree4j.modules.hal;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.QueueAffinity;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmBuffer;
import io.github.iree4j.vm.VmCall;
import java.lang.foreign.MemorySegment;

/** {@code hal_inline.buffer.*} and {@code hal_inline.device.query.i64} */
final class InlineImports {
    private static final int USAGE = BufferUsage.DEFAULT | BufferUsage.MAPPING;
    private static final int MEMORY_TYPE = MemoryType.DEVICE_LOCAL | MemoryType.HOST_VISIBLE;

    private InlineImports() {}

    static void register(NativeModule.Builder<HalState> module) {
        module.function("buffer.allocate", "0iI_rr", InlineImports::allocate)
                .function("buffer.allocate.initialized", "0irII_rr", InlineImports::allocateInitialized)
                .function("buffer.length", "0r_I", BufferImports::length)
                .function("buffer.storage", "0r_r", InlineImports::storage)
                .function("buffer.subspan", "0rII_r", BufferImports::subspan)
                .function("buffer.wrap", "0rII_r", InlineImports::wrap)
                .function(
                        "device.query.i64",
                        "0rr_iI",
                        (state, call) -> DeviceImports.query(state, state.firstDevice(), call));
    }

    private static BufferParams params(HalState state, int alignment) {
        long minimum = Integer.toUnsignedLong(alignment);
        if (minimum != 0 && Long.bitCount(minimum) != 1) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "'minimum_alignment' is %d, must be a power of two".formatted(minimum));
        }
        return new BufferParams(
                MEMORY_TYPE,
                USAGE,
                MemoryAccess.ALL,
                QueueAffinity.ANY,
                minimum,
                state.module().consumer());
    }

    private static void allocate(HalState state, VmCall call) {
        BufferParams params = params(state, call.i32());
        Buffer buffer = state.firstDevice().allocator().allocate(params, call.i64());
        giveWithStorage(call, buffer, MemorySegment.NULL);
    }

    private static void allocateInitialized(HalState state, VmCall call) {
        BufferParams params = params(state, call.i32());
        VmBuffer source = call.required(VmBuffer.class);
        MemorySegment bytes = Arguments.bytes("source", source, call.i64(), call.i64());
        Buffer buffer = state.firstDevice().allocator().allocate(params, bytes.byteSize());
        giveWithStorage(call, buffer, bytes);
    }

    private static void giveWithStorage(VmCall call, Buffer buffer, MemorySegment contents) {
        VmBuffer storage;
        try {
            storage = InlineStorage.of(buffer);
        } catch (RuntimeException | Error e) {
            buffer.release();
            throw e;
        }
        storage.segment().copyFrom(contents);
        call.returnRef(buffer);
        call.returnRef(storage);
    }

    private static void storage(HalState state, VmCall call) {
        call.returnRef(InlineStorage.of(call.required(Buffer.class)));
    }

    /** Wraps memory of the program in a buffer: a subspan for memory belonging to a buffer already, else imported in place, else rejected. */
    private static void wrap(HalState state, VmCall call) {
        VmBuffer source = call.required(VmBuffer.class);
        long offset = call.i64();
        long length = call.i64();
        MemorySegment bytes = Arguments.bytes("source", source, offset, length);
        Buffer behind = InlineStorage.behind(source);
        if (behind != null) {
            call.returnRef(behind.subspan(offset, length));
            return;
        }
        int access = MemoryAccess.READ | (source.isMutable() ? MemoryAccess.WRITE : 0);
        BufferParams params = params(state, 0).withAccess(access);
        call.returnRef(state.firstDevice().allocator().importHost(params, bytes, Arguments.keeper(source)));
    }
}

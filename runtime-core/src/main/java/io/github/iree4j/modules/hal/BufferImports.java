package io.github.iree4j.modules.hal;

import io.github.iree4j.hal.Allocator;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmBuffer;
import io.github.iree4j.vm.VmCall;
import java.lang.foreign.MemorySegment;

/** {@code hal.buffer.*} */
final class BufferImports {
    private BufferImports() {}

    static void register(NativeModule.Builder<HalState> module) {
        module.function("buffer.assert", "0rrrIii_v", BufferImports::check)
                .function("buffer.subspan", "0rII_r", BufferImports::subspan)
                .function("buffer.length", "0r_I", BufferImports::length)
                .function("buffer.load", "0rIi_i", BufferImports::load)
                .function("buffer.store", "0irIi_v", BufferImports::store)
                .function("buffer.allocation.preserve", "0r_v", BufferImports::preserve)
                .function("buffer.allocation.discard", "0r_i", BufferImports::discard)
                .function("buffer.allocation.is_terminal", "0r_i", BufferImports::isTerminal);
    }

    private static void check(HalState state, VmCall call) {
        Buffer buffer = call.required(Buffer.class);
        VmBuffer message = call.required(VmBuffer.class);
        call.required(Allocator.class);
        long minimumLength = call.i64();
        int memoryTypes = call.i32();
        int usage = call.i32();
        if (buffer.length() < minimumLength) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "%s: buffer of %d bytes is shorter than the %d bytes it must have"
                            .formatted(message.utf8(), buffer.length(), minimumLength));
        }
        if ((buffer.memoryType() & memoryTypes) != memoryTypes) {
            throw IreeException.of(
                    StatusCode.PERMISSION_DENIED,
                    "%s: buffer lies in memory of type %s, the program needs %s"
                            .formatted(
                                    message.utf8(),
                                    MemoryType.format(buffer.memoryType()),
                                    MemoryType.format(memoryTypes)));
        }
        if ((buffer.usage() & usage) != usage) {
            throw IreeException.of(
                    StatusCode.PERMISSION_DENIED,
                    "%s: buffer was created for %s, the program needs %s"
                            .formatted(message.utf8(), BufferUsage.format(buffer.usage()), BufferUsage.format(usage)));
        }
    }

    static void subspan(HalState state, VmCall call) {
        Buffer buffer = call.required(Buffer.class);
        long offset = call.i64();
        long length = call.i64();
        call.returnRef(buffer.subspan(offset, length));
    }

    static void length(HalState state, VmCall call) {
        call.returnI64(call.required(Buffer.class).length());
    }

    private static void load(HalState state, VmCall call) {
        Buffer buffer = call.required(Buffer.class);
        long offset = call.i64();
        int length = scalarLength(call.i32());
        byte[] bytes = new byte[length];
        buffer.read(offset, MemorySegment.ofArray(bytes));
        int value = 0;
        for (int i = length - 1; i >= 0; i--) {
            value = value << 8 | Byte.toUnsignedInt(bytes[i]);
        }
        call.returnI32(value);
    }

    private static void store(HalState state, VmCall call) {
        int value = call.i32();
        Buffer buffer = call.required(Buffer.class);
        long offset = call.i64();
        int length = scalarLength(call.i32());
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (value >>> 8 * i);
        }
        buffer.write(offset, MemorySegment.ofArray(bytes));
    }

    private static int scalarLength(int length) {
        if (length < 0 || length > Integer.BYTES) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT, "'length' is %d, must be 0 to 4 bytes".formatted(length));
        }
        return length;
    }

    private static void preserve(HalState state, VmCall call) {
        call.required(Buffer.class).preserve();
    }

    private static void discard(HalState state, VmCall call) {
        call.returnI32(call.required(Buffer.class).discard() ? 1 : 0);
    }

    private static void isTerminal(HalState state, VmCall call) {
        call.returnI32(call.required(Buffer.class).isTerminal() ? 1 : 0);
    }
}

package io.github.iree4j.modules.hal;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmBuffer;
import io.github.iree4j.vm.VmCall;
import java.util.ArrayList;
import java.util.List;

/** {@code hal.buffer_view.*} */
final class BufferViewImports {
    private static final int MAX_TRACED_VIEWS = 128;

    private BufferViewImports() {}

    static void register(NativeModule.Builder<HalState> module) {
        module.function("buffer_view.create", "0rIIiiCID_r", BufferViewImports::create)
                .function("buffer_view.assert", "0rriiCID_v", BufferViewImports::check)
                .function("buffer_view.buffer", "0r_r", BufferViewImports::buffer)
                .function("buffer_view.dim", "0ri_I", BufferViewImports::dimension)
                .function("buffer_view.rank", "0r_i", BufferViewImports::rank)
                .function("buffer_view.element_type", "0r_i", BufferViewImports::elementType)
                .function("buffer_view.encoding_type", "0r_i", BufferViewImports::encodingType)
                .function("buffer_view.trace", "0rCrD_v", BufferViewImports::trace);
    }

    private static void create(HalState state, VmCall call) {
        Buffer buffer = call.required(Buffer.class);
        long offset = call.i64();
        long length = call.i64();
        ElementType elementType = state.elementType(call.i32());
        int encoding = call.i32();
        Shape shape = state.shape(call);
        if (offset == 0 && length == buffer.length()) {
            call.returnRef(BufferView.create(buffer, shape, elementType, encoding));
            return;
        }
        Buffer part = buffer.subspan(offset, length);
        try {
            call.returnRef(BufferView.adopt(part, shape, elementType, encoding));
        } catch (RuntimeException | Error e) {
            part.release();
            throw e;
        }
    }

    private static void check(HalState state, VmCall call) {
        BufferView view = call.required(BufferView.class);
        VmBuffer message = call.required(VmBuffer.class);
        int elementType = call.i32();
        int encoding = call.i32();
        if (view.encoding() != BufferView.ENCODING_OPAQUE && view.encoding() != encoding) {
            throw mismatch(message, "encoding", Integer.toHexString(encoding), Integer.toHexString(view.encoding()));
        }
        if (!fits(view.elementType(), elementType)) {
            throw mismatch(
                    message,
                    "element type",
                    new ElementType(elementType).toString(),
                    view.elementType().toString());
        }
        Shape shape = view.shape();
        int rank = call.spanCount();
        if (rank != shape.rank()) {
            throw mismatch(message, "shape rank", Integer.toString(rank), shape.rank() + " (" + view + ")");
        }
        for (int i = 0; i < rank; i++) {
            long expected = call.i64();
            if (expected != shape.dimension(i)) {
                throw mismatch(
                        message,
                        "shape dimension " + i,
                        Long.toString(expected),
                        shape.dimension(i) + " (" + view + ")");
            }
        }
    }

    /** Whether data of a type is accepted for an expected type: any type for opaque data, integers by width, else the same. */
    private static boolean fits(ElementType actual, int expected) {
        if (actual.encoding() == expected || actual.isOpaque()) {
            return true;
        }
        ElementType other = new ElementType(expected);
        return isIntegral(actual) && isIntegral(other) && actual.bitCount() == other.bitCount();
    }

    /** Booleans are stored as integers and count as such: a .npy file or a caller may provide booleans as bytes. */
    private static boolean isIntegral(ElementType type) {
        return type.isInteger() || type.isBoolean();
    }

    private static IreeException mismatch(VmBuffer message, String what, String expected, String actual) {
        return IreeException.of(
                StatusCode.INVALID_ARGUMENT,
                "%s: %s mismatch, expected %s but have %s".formatted(message.utf8(), what, expected, actual));
    }

    private static void buffer(HalState state, VmCall call) {
        Buffer buffer = call.required(BufferView.class).buffer();
        buffer.retain();
        call.returnRef(buffer);
    }

    private static void dimension(HalState state, VmCall call) {
        Shape shape = call.required(BufferView.class).shape();
        call.returnI64(shape.dimension(call.i32()));
    }

    private static void rank(HalState state, VmCall call) {
        call.returnI32(call.required(BufferView.class).shape().rank());
    }

    private static void elementType(HalState state, VmCall call) {
        call.returnI32(call.required(BufferView.class).elementType().encoding());
    }

    private static void encodingType(HalState state, VmCall call) {
        call.returnI32(call.required(BufferView.class).encoding());
    }

    private static void trace(HalState state, VmCall call) {
        String key = call.required(VmBuffer.class).utf8();
        int count = Arguments.count("views", call.spanCount(), MAX_TRACED_VIEWS);
        List<BufferView> views = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            views.add(call.required(BufferView.class));
        }
        state.module().traceSink().trace(key, views);
    }
}

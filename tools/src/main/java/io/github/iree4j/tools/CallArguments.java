package io.github.iree4j.tools;

import io.github.iree4j.ProgramFunction;
import io.github.iree4j.Tensor;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.MemoryAccess;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The arguments given to a function by {@code --input} flags, for any number of calls. */
final class CallArguments implements AutoCloseable {
    private final List<Object> parsed;
    private final @Nullable Object[] values;

    private CallArguments(List<Object> parsed, @Nullable Object[] values) {
        this.parsed = parsed;
        this.values = values;
    }

    static CallArguments parse(ProgramFunction called, List<String> inputs) {
        List<Object> parsed;
        try (InputSpecs specs = new InputSpecs()) {
            parsed = specs.parse(called.argumentKinds(), inputs);
        }
        try {
            return new CallArguments(parsed, forCall(called.program().devices().getFirst(), parsed));
        } catch (RuntimeException e) {
            parsed.forEach(CallArguments::closeTensor);
            throw e;
        }
    }

    /** The values of the arguments; owned by this object. */
    @Nullable
    Object[] values() {
        return values;
    }

    @Override
    public void close() {
        releaseStorage(values);
        parsed.forEach(CallArguments::closeTensor);
    }

    private static @Nullable Object[] forCall(Device device, List<Object> arguments) {
        @Nullable Object[] values = new Object[arguments.size()];
        try {
            for (int i = 0; i < values.length; i++) {
                Object argument = arguments.get(i);
                values[i] = argument instanceof InputSpecs.NoValue
                        ? null
                        : argument instanceof InputSpecs.Storage storage ? buffer(device, storage.tensor()) : argument;
            }
            return values;
        } catch (RuntimeException e) {
            releaseStorage(values);
            throw e;
        }
    }

    /** Storage for a result is a buffer without a shape, whatever the function declares. */
    private static Buffer buffer(Device device, Tensor contents) {
        Buffer buffer = device.allocator().allocate(BufferParams.DEFAULT, contents.byteSize());
        contents.copyTo(buffer.map(MemoryAccess.DISCARD_WRITE, 0, contents.byteSize()));
        return buffer;
    }

    private static void releaseStorage(@Nullable Object[] values) {
        for (Object value : values) {
            if (value instanceof Buffer buffer) {
                buffer.close();
            }
        }
    }

    static void closeTensor(Object value) {
        if (value instanceof Tensor tensor) {
            tensor.close();
        } else if (value instanceof InputSpecs.Storage storage) {
            storage.tensor().close();
        }
    }
}

package io.github.iree4j.call;

import io.github.iree4j.hal.BufferView;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.tensor.DeviceMemory;
import io.github.iree4j.tensor.TensorElements;
import io.github.iree4j.vm.Invocation;
import io.github.iree4j.vm.VmList;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Converts the values returned by a program: views into elements of tensors, lists into lists. For one call. */
final class ResultReader {
    /** A program could return lists containing each other, or themselves. */
    private static final int MAX_DEPTH = 16;

    private static final int MAX_ELEMENTS = 1 << 20;

    private final DeviceMemory memory;
    private int elements;

    private ResultReader(DeviceMemory memory) {
        this.memory = memory;
    }

    /**
     * Reads the results of a call.
     *
     * @param kinds a letter for each result, by the calling convention
     * @return the results; the caller frees them
     */
    static @Nullable Object[] read(String kinds, Invocation invocation, DeviceMemory memory) {
        @Nullable Object[] values = new Object[kinds.length()];
        ResultReader reader = new ResultReader(memory);
        try {
            for (int i = 0; i < values.length; i++) {
                values[i] = switch (kinds.charAt(i)) {
                    case 'i' -> (Object) invocation.i32();
                    case 'I' -> invocation.i64();
                    case 'f' -> invocation.f32();
                    case 'F' -> invocation.f64();
                    default -> reader.own(invocation.takeRef(Object.class), 0);
                };
            }
            return values;
        } catch (RuntimeException | Error e) {
            free(values);
            throw e;
        }
    }

    /** Frees all memory owned by results. */
    static void free(@Nullable Object[] values) {
        for (Object value : values) {
            free(value);
        }
    }

    private static void free(@Nullable Object value) {
        switch (value) {
            case null -> {}
            case TensorElements elements -> elements.close();
            case List<?> list -> list.forEach(ResultReader::free);
            case RefCounted counted -> counted.release();
            default -> {}
        }
    }

    /** Takes ownership of the caller's reference. */
    private @Nullable Object own(@Nullable Object reference, int depth) {
        return switch (reference) {
            case BufferView view when TensorElements.isDense(view) -> new TensorElements(view, memory);
            case VmList list -> {
                try {
                    yield elements(list, depth);
                } finally {
                    list.release();
                }
            }
            case null, default -> reference;
        };
    }

    private List<@Nullable Object> elements(VmList list, int depth) {
        elements += list.size();
        if (depth == MAX_DEPTH || elements > MAX_ELEMENTS || elements < 0) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "lists returned are nested more than %d deep or have more than %d elements"
                            .formatted(MAX_DEPTH, MAX_ELEMENTS));
        }
        List<@Nullable Object> values = new ArrayList<>(list.size());
        try {
            for (int i = 0; i < list.size(); i++) {
                Object element = list.get(i);
                if (element instanceof RefCounted counted) {
                    counted.retain();
                }
                values.add(own(element, depth + 1));
            }
        } catch (RuntimeException | Error e) {
            free(values);
            throw e;
        }
        return Collections.unmodifiableList(values);
    }
}

package io.github.iree4j;

import io.github.iree4j.hal.BufferView;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.tensor.DeviceMemory;
import io.github.iree4j.vm.VmList;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Turns references that a program returned into what Java sees: views into tensors, lists into lists. For one call. */
final class ResultReader {
    /** A program could return lists that contain each other, or themselves. */
    private static final int MAX_DEPTH = 16;

    private static final int MAX_ELEMENTS = 1 << 20;

    private final DeviceMemory memory;
    private final Leaks leaks;
    private int elements;

    ResultReader(DeviceMemory memory, Leaks leaks) {
        this.memory = memory;
        this.leaks = leaks;
    }

    /** Takes over the caller's reference. */
    @Nullable
    Object own(@Nullable Object reference) {
        return own(reference, 0);
    }

    private @Nullable Object own(@Nullable Object reference, int depth) {
        return switch (reference) {
            case BufferView view when isDense(view) -> Tensor.adopt(view, memory, leaks);
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

    static boolean isDense(BufferView view) {
        return view.encoding() == BufferView.ENCODING_DENSE_ROW_MAJOR
                && view.elementType().bitCount() > 0;
    }

    private List<@Nullable Object> elements(VmList list, int depth) {
        elements += list.size();
        if (depth == MAX_DEPTH || elements > MAX_ELEMENTS || elements < 0) {
            throw new IreeException(
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
            Results.free(values.toArray());
            throw e;
        }
        return Collections.unmodifiableList(values);
    }
}

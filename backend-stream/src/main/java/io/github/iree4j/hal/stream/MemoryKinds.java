package io.github.iree4j.hal.stream;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The kinds of memory by use; two uses may have the same kind. Kinds of different types differ in their names and HAL
 * types.
 *
 * @param device the fastest kind for the device, host-visible or not
 * @param shared host-visible device memory; null for none
 * @param upload memory written by the host
 * @param readback memory read by the host
 */
public record MemoryKinds(MemoryKind device, @Nullable MemoryKind shared, MemoryKind upload, MemoryKind readback) {

    /**
     * Returns the kinds.
     *
     * @return distinct kinds
     */
    public List<MemoryKind> kinds() {
        List<MemoryKind> kinds = new ArrayList<>();
        for (MemoryKind kind : new @Nullable MemoryKind[] {device, shared, upload, readback}) {
            if (kind != null && kinds.stream().noneMatch(known -> known.type() == kind.type())) {
                kinds.add(kind);
            }
        }
        return kinds;
    }

    /** Returns the kind of a driver's type; null for a type not in use. */
    @Nullable
    MemoryKind ofType(int type) {
        for (MemoryKind kind : kinds()) {
            if (kind.type() == type) {
                return kind;
            }
        }
        return null;
    }
}

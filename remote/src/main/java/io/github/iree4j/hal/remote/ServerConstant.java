package io.github.iree4j.hal.remote;

import io.github.iree4j.hal.Allocator;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.ViewedConstant;
import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A constant of a client, or a view of a constant: memory of a device. Safe from any thread. */
final class ServerConstant extends Resource {
    private final Allocator allocator;
    private final @Nullable ViewedConstant constant; // null for a view
    private final ViewedConstant.@Nullable View view; // null for a constant
    private final Buffer buffer;
    private final Supplier<@Nullable IreeException> report;
    private boolean reported; // guarded by the object of this

    private ServerConstant(
            Allocator allocator,
            @Nullable ViewedConstant constant,
            ViewedConstant.@Nullable View view,
            Buffer buffer,
            Supplier<@Nullable IreeException> report) {
        this.allocator = allocator;
        this.constant = constant;
        this.view = view;
        this.buffer = buffer;
        this.report = report;
    }

    /** Seals a filled constant, owned by the result. */
    static ServerConstant of(Allocator allocator, ViewedConstant filled) {
        return new ServerConstant(allocator, filled, null, filled.seal(), () -> null);
    }

    /**
     * Creates a view.
     *
     * @param report reports the first write; returns the reason against the memory taken by writes, or null
     * @throws IreeException INVALID_ARGUMENT when this is a view
     */
    ServerConstant view(Supplier<@Nullable IreeException> report) {
        ViewedConstant.View made = source().view();
        return new ServerConstant(allocator, null, made, made.buffer(), report);
    }

    private ViewedConstant source() {
        ViewedConstant source = constant;
        if (source == null) {
            throw IreeException.of(StatusCode.INVALID_ARGUMENT, "a view is used as a constant");
        }
        return source;
    }

    /** Creates a constant with the present bytes. */
    ServerConstant copy() {
        ViewedConstant filled = allocator.createConstant(ServerObjects.MEMORY, buffer.length());
        try {
            filled.writable().copyFrom(buffer.map(MemoryAccess.READ, 0, buffer.length()));
            return of(allocator, filled);
        } catch (RuntimeException | Error e) {
            filled.close();
            throw e;
        }
    }

    Buffer buffer() {
        return buffer;
    }

    /** Returns, once, that commands have written to this view. */
    boolean takeWritten() {
        boolean first = view != null && !reported && view.written().getAsBoolean();
        reported |= first;
        return first;
    }

    /** Reports the first write; returns the reason against the memory taken by writes, or null. */
    @Nullable
    IreeException report() {
        return report.get();
    }

    @Override
    protected String describe() {
        return constant == null ? "view of a constant" : "constant";
    }

    @Override
    protected void destroy() {
        buffer.close();
        if (constant != null) {
            constant.close();
        }
    }
}

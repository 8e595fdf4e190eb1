package io.github.iree4j;

import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.lifetime.UseGuard;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Where the elements of one {@link Tensor} are, and until when. Safe from any thread. */
final class TensorElements {
    private final ElementType type; // for messages, like the shape
    private final long[] shape;
    /** The elements, or null for a result, whose elements are in {@link #view}. */
    private final @Nullable MemorySegment host;

    private final @Nullable BufferView view;
    /** Where {@link #view} is. */
    private final @Nullable DeviceMemory memory;

    private final Leaks.@Nullable Watch watch;
    private final UseGuard guard;
    /** Only for messages. */
    private volatile boolean transferred;

    /** In memory of the host. */
    TensorElements(ElementType type, long[] shape, MemorySegment host) {
        this.type = type;
        this.shape = shape;
        this.host = host;
        this.view = null;
        this.memory = null;
        this.watch = null;
        this.guard = new UseGuard(this::describe, () -> {});
    }

    /** In memory of a device; takes over the caller's reference to the view. */
    TensorElements(ElementType type, long[] shape, BufferView view, DeviceMemory memory, Leaks.Watch watch) {
        this.type = type;
        this.shape = shape;
        this.host = null;
        this.view = view;
        this.memory = memory;
        this.watch = watch;
        this.guard = new UseGuard(this::describe, view::release);
    }

    MemorySegment host() {
        if (host == null) {
            throw new IreeException(StatusCode.INTERNAL, name() + " is in device memory");
        }
        return host;
    }

    /** Valid between {@link #enter} and {@link #exit}. */
    @Nullable
    BufferView view() {
        return view;
    }

    /** Where they are if it is a device. */
    @Nullable
    DeviceMemory memory() {
        return memory;
    }

    /** Who watches that they are freed, if they have to be. */
    @Nullable
    Leaks leaks() {
        return watch == null ? null : watch.leaks;
    }

    boolean isClosed() {
        return guard.isClosed();
    }

    /** Closes, now or when the last use under way ends; true for the one who did. */
    boolean close() {
        boolean first = guard.close();
        if (first && watch != null) {
            watch.closed();
        }
        return first;
    }

    /** Says for messages that a call took them. */
    void transferred() {
        transferred = true;
    }

    /** Keeps them from being freed until {@link #exit}. */
    void enter() {
        guard.enter();
    }

    void exit() {
        guard.exit();
    }

    <T> T read(Function<MemorySegment, T> reader) {
        guard.enter();
        try {
            return view == null || memory == null ? reader.apply(host()) : memory.read(view, reader);
        } catch (IllegalStateException | WrongThreadException e) {
            throw new IreeException(
                    StatusCode.FAILED_PRECONDITION,
                    "memory of %s cannot be used: %s".formatted(name(), e.getMessage()),
                    e);
        } finally {
            guard.exit();
        }
    }

    /** Copies some bytes to the Java heap. */
    MemorySegment copy(long first, long bytes) {
        return read(data -> {
            MemorySegment fresh = HeapElements.allocate(bytes);
            return fresh.copyFrom(data.asSlice(first, bytes));
        });
    }

    /** Copies some bytes to a device; the caller releases the view. */
    BufferView copyOn(DeviceMemory device, long[] part, long first, long bytes) {
        return read(data -> {
            try {
                return device.create(type, part, target -> target.copyFrom(data.asSlice(first, bytes)));
            } catch (IOException e) {
                throw new AssertionError("memory is no file", e);
            }
        });
    }

    /** The first elements of each dimension on a device: of the same buffer if they come first of all. The caller releases the view. */
    BufferView corner(DeviceMemory device, long[] part) {
        BufferView all = view;
        if (all != null && Blocks.comeFirst(shape, part)) {
            guard.enter();
            try {
                return BufferView.create(all.buffer(), part, type, BufferView.ENCODING_DENSE_ROW_MAJOR);
            } finally {
                guard.exit();
            }
        }
        return read(data -> {
            try {
                return device.create(
                        type, part, target -> Blocks.copy(data, shape, target, part, part, type.bitCount() / 8));
            } catch (IOException e) {
                throw new AssertionError("memory is no file", e);
            }
        });
    }

    private String name() {
        return "tensor " + Shape.format(shape, type);
    }

    private String describe() {
        return transferred ? name() + ", which was transferred to a call," : name();
    }
}

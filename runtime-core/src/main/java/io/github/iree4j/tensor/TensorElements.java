package io.github.iree4j.tensor;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.lifetime.UseGuard;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The memory of the elements of a tensor, and the lifetime of this memory. Safe from any thread. */
public final class TensorElements extends UseGuard {
    private final ElementType type;
    private final Shape shape;
    /** The elements in host memory, or null for a result with elements in {@link #view}. */
    private final @Nullable MemorySegment host;

    private final @Nullable BufferView view;
    /** The memory of {@link #view}. */
    private final @Nullable DeviceMemory memory;

    private final boolean isShared;
    /** Whether a call took the elements. For messages only. */
    private volatile boolean transferred;

    /** Creates elements in separate host memory, no longer written by anyone. */
    public TensorElements(ElementType type, Shape shape, MemorySegment host) {
        this(type, shape, host, false);
    }

    /** Creates elements in memory of the caller. The caller may change the memory after calls have read it. */
    public static TensorElements shared(ElementType type, Shape shape, MemorySegment host) {
        return new TensorElements(type, shape, host, true);
    }

    private TensorElements(ElementType type, Shape shape, MemorySegment host, boolean isShared) {
        this.type = type;
        this.shape = shape;
        this.host = host;
        this.isShared = isShared;
        this.view = null;
        this.memory = null;
    }

    /** Creates elements in device memory; takes ownership of the caller's reference to the view. */
    public TensorElements(BufferView view, DeviceMemory memory) {
        this.type = view.elementType();
        this.shape = view.shape();
        this.host = null;
        this.isShared = false;
        this.view = view;
        this.memory = memory;
    }

    /** Returns whether a tensor can be created from a view. */
    public static boolean isDense(BufferView view) {
        return view.encoding() == BufferView.ENCODING_DENSE_ROW_MAJOR
                && view.elementType().bitCount() > 0;
    }

    /** Creates zero elements on the Java heap. */
    public static TensorElements zeros(ElementType type, Shape shape) {
        return new TensorElements(
                type, shape, HeapElements.allocate(ElementCodec.byteSize(type, shape.elementCount())));
    }

    public ElementType type() {
        return type;
    }

    public Shape shape() {
        return shape;
    }

    /** Returns the size of the elements in bytes. */
    public long byteSize() {
        return view == null ? host().byteSize() : view.byteLength();
    }

    /** Returns the host memory of a tensor that is not a result. */
    public MemorySegment host() {
        if (host == null) {
            throw IreeException.of(StatusCode.INTERNAL, name() + " is in device memory");
        }
        return host;
    }

    /** Returns the device memory of a result, or null for any other tensor. Valid between {@link #enter} and {@link #exit}. */
    public @Nullable BufferView view() {
        return view;
    }

    /** Returns the device memory holding the elements, or null. */
    public @Nullable DeviceMemory memory() {
        return memory;
    }

    /** Records, for messages, that a call took the elements. */
    public void transferred() {
        transferred = true;
    }

    /** Passes the bytes to a reader. */
    public <T> T read(Function<MemorySegment, T> reader) {
        enter();
        try {
            return view == null || memory == null ? reader.apply(host()) : memory.read(view, reader);
        } catch (IllegalStateException | WrongThreadException e) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    "memory of %s cannot be used: %s".formatted(name(), e.getMessage()),
                    e);
        } finally {
            exit();
        }
    }

    /** Returns whether {@link #read} passes the elements in place. */
    public boolean isOnHost() {
        enter();
        try {
            return view == null || view.buffer().isMappable(MemoryAccess.READ);
        } finally {
            exit();
        }
    }

    /** Returns whether the elements are in memory of the caller, who may change the memory once a device has copied the elements. */
    public boolean isCopiedFromCaller(Device device) {
        return isShared && !(device.isMemoryOfHost() && DeviceMemory.isImportable(host()));
    }

    /** Copies the elements to the Java heap. Between {@link #enter} and {@link #exit}. */
    public TensorElements snapshot() {
        return new TensorElements(type, shape, copy(0, byteSize()));
    }

    /** Copies a range of bytes to the Java heap. */
    public MemorySegment copy(long first, long bytes) {
        return read(data -> {
            MemorySegment fresh = HeapElements.allocate(bytes);
            return fresh.copyFrom(data.asSlice(first, bytes));
        });
    }

    /**
     * Returns the first elements of each dimension: in the same memory if these elements come first, otherwise copied
     * to the Java heap. A copy on the device could fail a call that has ended, since nothing waits for the device's
     * memory any more.
     */
    public TensorElements corner(Shape part) {
        long bytes = ElementCodec.byteSize(type, part.elementCount());
        if (!isShared && Blocks.comeFirst(shape, part)) {
            return first(part, bytes);
        }
        return new TensorElements(type, part, read(data -> {
            MemorySegment fresh = HeapElements.allocate(bytes);
            Blocks.copy(data, shape, fresh, part, part, type.bitCount() / 8);
            return fresh;
        }));
    }

    /** Returns the elements in another shape with as many elements, in the same memory. */
    public TensorElements reshape(Shape other) {
        return first(other, byteSize());
    }

    private TensorElements first(Shape part, long bytes) {
        enter();
        try {
            return view == null || memory == null
                    ? new TensorElements(type, part, host().asSlice(0, bytes), isShared)
                    : new TensorElements(
                            BufferView.create(view.buffer(), part, type, BufferView.ENCODING_DENSE_ROW_MAJOR), memory);
        } finally {
            exit();
        }
    }

    /** Creates a view of this shape and type, taking ownership of the caller's reference to the buffer. */
    BufferView adopt(Buffer buffer) {
        try {
            return BufferView.adopt(buffer, shape, type, BufferView.ENCODING_DENSE_ROW_MAJOR);
        } catch (RuntimeException | Error e) {
            buffer.release();
            throw e;
        }
    }

    /** Returns whether the elements may be passed as a tensor of the declared type. */
    public boolean fit(TensorType declared) {
        return declared.accepts(type, shape);
    }

    /** Returns type and shape, {@code 4xf32}. */
    public String header() {
        return shape.format(type);
    }

    /** Returns the name in messages, {@code tensor 4xf32}. */
    public String name() {
        return "tensor " + header();
    }

    @Override
    protected String describe() {
        return transferred ? name() + ", which was transferred to a call," : name();
    }

    @Override
    protected void free() {
        if (view != null) {
            view.release();
        }
    }
}

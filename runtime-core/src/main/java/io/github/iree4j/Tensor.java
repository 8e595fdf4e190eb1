package io.github.iree4j;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.call.Transfer;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.tensor.ArrivedBytes;
import io.github.iree4j.tensor.DeviceMemory;
import io.github.iree4j.tensor.ElementArrays;
import io.github.iree4j.tensor.ElementCodec;
import io.github.iree4j.tensor.HeapElements;
import io.github.iree4j.tensor.JavaArrays;
import io.github.iree4j.tensor.TensorElements;
import io.github.iree4j.tensor.TensorStreams;
import io.github.iree4j.tensor.TensorText;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A typed, shaped, dense, row-major array: an input or a result of a function.
 *
 * <p><b>Memory.</b> Java arrays are copied into the tensor. {@link #wrap} reads the caller's memory at each call. A
 * result of a call refers to device memory, freed by {@link #close()} and never by the collector. Elements are
 * little-endian.
 *
 * <p><b>Shapes.</b> No shape given means one dimension of the array's length. A scalar has rank 0 and one element, see {@code scalar}. A
 * dimension may be 0; then there are no elements.
 *
 * <p><b>Conversions.</b> {@code toFloatArray} and {@code toDoubleArray} convert every number, rounding to nearest. The integer forms take
 * integers and booleans; a value that does not fit is OUT_OF_RANGE, except that an unsigned type of exactly the array's width
 * gives its bits, Java's representation of unsigned numbers. Complex and opaque elements are available as {@link #rawBytes()}
 * only.
 *
 * <p><b>Threads.</b> Any thread may use a tensor, also while a call runs. Closing a tensor during a use lets the use
 * finish; every later use throws FAILED_PRECONDITION. Closing twice is harmless.
 */
public final class Tensor implements AutoCloseable {
    private static final int TEXT_ELEMENTS = 64;

    private final TensorElements elements;
    private final Leaks.@Nullable Watch watch; // tracks the closing of a result

    /** Creates a tensor in host memory. */
    Tensor(TensorElements elements) {
        this(elements, null);
    }

    private Tensor(ElementType type, Shape shape, MemorySegment host) {
        this(new TensorElements(type, shape, host));
    }

    /** Creates a tensor in device memory, tracked by leaks; takes ownership of the elements. */
    Tensor(TensorElements elements, @Nullable Leaks leaks) {
        this.elements = elements;
        this.watch = leaks == null ? null : leaks.watch(this, elements);
    }

    /** Creates a result; takes ownership of the caller's reference to the view. */
    static Tensor adopt(BufferView view, DeviceMemory memory, Leaks leaks) {
        return new Tensor(new TensorElements(view, memory), leaks);
    }

    /** Converts the inputs of a call: elements instead of tensors. Returns a new array. */
    static @Nullable Object[] inputs(@Nullable Object[] given) {
        @Nullable Object[] inputs = new Object[given.length];
        for (int i = 0; i < given.length; i++) {
            inputs[i] = switch (given[i]) {
                case Tensor tensor -> tensor.elements;
                case TransferredTensor transferred -> new Transfer(transferred.tensor().elements, transferred::take);
                case null, default -> given[i];
            };
        }
        return inputs;
    }

    // -- from Java values

    /**
     * Copies floats into an {@code f32} tensor.
     *
     * @param values the elements, row-major
     * @param shape the shape; none for one dimension
     * @return the tensor
     * @throws IreeException INVALID_ARGUMENT when the shape has another number of elements
     */
    public static Tensor of(float[] values, long... shape) {
        return copied(ElementType.F32, values.length, MemorySegment.ofArray(values.clone()), shape);
    }

    /**
     * Copies floats into a tensor of any float type, rounding to nearest; {@code f16}, {@code bf16} and the 8-bit types too.
     *
     * @param type a float type
     * @param values the elements, row-major
     * @param shape the shape; none for one dimension
     * @return the tensor
     * @throws IreeException INVALID_ARGUMENT when the type is not a float type, or the shape has another number of elements
     */
    public static Tensor of(ElementType type, float[] values, long... shape) {
        return copied(type, values.length, HeapElements.ofReals(type, values), shape);
    }

    /**
     * Copies doubles into an {@code f64} tensor, as {@link #of(float[], long...)} does floats.
     *
     * @param values the elements, row-major
     * @param shape the shape; none for one dimension
     * @return the tensor
     */
    public static Tensor of(double[] values, long... shape) {
        return copied(ElementType.F64, values.length, MemorySegment.ofArray(values.clone()), shape);
    }

    /**
     * Copies ints into an {@code i32} tensor, as {@link #of(float[], long...)} does floats.
     *
     * @param values the elements, row-major
     * @param shape the shape; none for one dimension
     * @return the tensor
     */
    public static Tensor of(int[] values, long... shape) {
        return copied(ElementType.I32, values.length, MemorySegment.ofArray(values.clone()), shape);
    }

    /**
     * Copies longs into an {@code i64} tensor, as {@link #of(float[], long...)} does floats.
     *
     * @param values the elements, row-major
     * @param shape the shape; none for one dimension
     * @return the tensor
     */
    public static Tensor of(long[] values, long... shape) {
        return copied(ElementType.I64, values.length, MemorySegment.ofArray(values.clone()), shape);
    }

    /**
     * Copies integers into a tensor of any integer type, {@code i4} and {@code ui8} for example, or of {@code i1} (0 and 1).
     *
     * @param type an integer type or {@code i1}
     * @param values the elements, row-major; bits for {@code ui64}
     * @param shape the shape; none for one dimension
     * @return the tensor
     * @throws IreeException OUT_OF_RANGE when the type cannot hold a value; INVALID_ARGUMENT when the type is not an
     *     integer type, or the shape has another number of elements
     */
    public static Tensor of(ElementType type, long[] values, long... shape) {
        return copied(type, values.length, HeapElements.ofIntegers(type, values), shape);
    }

    /**
     * Copies shorts into an {@code i16} tensor, as {@link #of(float[], long...)} does floats.
     *
     * @param values the elements, row-major
     * @param shape the shape; none for one dimension
     * @return the tensor
     */
    public static Tensor of(short[] values, long... shape) {
        return copied(ElementType.I16, values.length, MemorySegment.ofArray(values.clone()), shape);
    }

    /**
     * Copies bytes into an {@code i8} tensor, as {@link #of(float[], long...)} does floats.
     *
     * @param values the elements, row-major
     * @param shape the shape; none for one dimension
     * @return the tensor
     */
    public static Tensor of(byte[] values, long... shape) {
        return copied(ElementType.I8, values.length, MemorySegment.ofArray(values.clone()), shape);
    }

    /**
     * Copies booleans into an {@code i1} tensor, one byte each.
     *
     * @param values the elements, row-major
     * @param shape the shape; none for one dimension
     * @return the tensor
     * @throws IreeException INVALID_ARGUMENT when the shape has another number of elements
     */
    public static Tensor of(boolean[] values, long... shape) {
        return copied(ElementType.BOOL_8, values.length, HeapElements.ofBooleans(values), shape);
    }

    /**
     * Copies a nested array into a tensor of the element's natural type, such as {@code f32} for {@code float[][]}.
     *
     * @param values an array of arrays of numbers or booleans; inner arrays of one level have one length
     * @return the tensor; the nesting is the shape
     * @throws IreeException INVALID_ARGUMENT when inner arrays differ in length, or elements are neither numbers nor
     *     booleans
     */
    public static Tensor of(Object[] values) {
        return new Tensor(JavaArrays.toElements(values, null));
    }

    /**
     * Creates a tensor of rank 0: {@code f32}, {@code f64}, {@code i8}, {@code i16}, {@code i32} or {@code i64} by the
     * value's Java type.
     *
     * @param value a boxed primitive
     * @return the tensor
     * @throws IreeException INVALID_ARGUMENT for any other number
     */
    public static Tensor scalar(Number value) {
        ElementType type = ElementArrays.scalarType(value);
        return new Tensor(type, Shape.SCALAR, HeapElements.ofScalar(type, value));
    }

    /**
     * Creates an {@code i1} tensor of rank 0.
     *
     * @param value the element
     * @return the tensor
     */
    public static Tensor scalar(boolean value) {
        return new Tensor(ElementType.BOOL_8, Shape.SCALAR, HeapElements.ofBooleans(new boolean[] {value}));
    }

    /**
     * Creates a tensor with all bytes zero.
     *
     * @param type the element type
     * @param shape the shape; none for a scalar
     * @return the tensor
     * @throws IreeException INVALID_ARGUMENT for an impossible shape or a type without size; RESOURCE_EXHAUSTED beyond 16 GB
     */
    public static Tensor zeros(ElementType type, long... shape) {
        return new Tensor(TensorElements.zeros(type, Shape.of(shape)));
    }

    /**
     * Parses a text in the input format of {@code iree-run-module}: {@code 4xf32=1 2 3 4}, {@code 2x2xi32=[1 2][3 4]},
     * {@code 4xf32=2} (all 2), {@code 2x2xi32} (zeros), {@code f32=3} (a scalar). Elements without a Java number are
     * hexadecimal bytes.
     *
     * @param text shape, type and values
     * @return the tensor
     * @throws IreeException INVALID_ARGUMENT for malformed text; OUT_OF_RANGE for too many or too few values, or a
     *     value out of range
     */
    public static Tensor parse(String text) {
        return new Tensor(TensorText.parse(text));
    }

    // -- from memory

    /**
     * Creates a tensor over the caller's memory, read during each call. Nothing is copied when the segment is native,
     * aligned to 64 bytes and cannot be closed (an automatic or the global arena); otherwise each call first copies the
     * memory, on the calling thread.
     *
     * <p>Closing the tensor does not close the segment. A closed segment, or a segment confined to another thread,
     * fails the call with FAILED_PRECONDITION.
     *
     * @param segment at least as many bytes as shape and type need
     * @param type the element type
     * @param shape the shape; none for a scalar
     * @return the tensor
     * @throws IreeException INVALID_ARGUMENT when the segment is too short
     */
    public static Tensor wrap(MemorySegment segment, ElementType type, long... shape) {
        Shape wanted = Shape.of(shape);
        long size = ElementCodec.byteSize(type, wanted.elementCount());
        checkFits(segment, type, wanted, size);
        return new Tensor(TensorElements.shared(type, wanted, segment.asSlice(0, size)));
    }

    /**
     * Copies the caller's memory.
     *
     * @param segment at least as many bytes as shape and type need
     * @param type the element type
     * @param shape the shape; none for a scalar
     * @return the tensor
     * @throws IreeException INVALID_ARGUMENT when the segment is too short; FAILED_PRECONDITION when the segment is
     *     closed or confined to another thread
     */
    public static Tensor copyOf(MemorySegment segment, ElementType type, long... shape) {
        try (Tensor wrapped = wrap(segment, type, shape)) {
            return wrapped.copyToHost();
        }
    }

    /**
     * Reads the elements from a stream, and no byte beyond the elements, into memory used in place by devices where
     * possible.
     *
     * @param in the elements, row-major, little-endian; not closed
     * @param type the element type
     * @param shape the shape; none for a scalar
     * @return the tensor; needs no closing: the collector frees the memory
     * @throws IreeException OUT_OF_RANGE when the stream ends too early; INVALID_ARGUMENT for an impossible shape or a
     *     type without size; RESOURCE_EXHAUSTED when there is no memory for the tensor. Memory for more than 256 KB is
     *     allocated when a quarter of the elements has been read
     * @throws IOException when the stream cannot be read
     */
    public static Tensor read(InputStream in, ElementType type, long... shape) throws IOException {
        Shape wanted = Shape.of(shape);
        long size = ElementCodec.byteSize(type, wanted.elementCount());
        try (ArrivedBytes bytes = ArrivedBytes.of(in, size, "tensor " + wanted.format(type))) {
            TensorElements elements = new TensorElements(type, wanted, TensorStreams.allocate(size));
            bytes.fill(elements.host());
            return new Tensor(elements);
        }
    }

    private static Tensor copied(ElementType type, int length, MemorySegment data, long[] shape) {
        return new Tensor(type, HeapElements.shape(type, length, shape), data);
    }

    // -- properties

    /**
     * Returns the type of the elements.
     *
     * @return the element type
     */
    public ElementType elementType() {
        return elements.type();
    }

    /**
     * Returns the dimensions.
     *
     * @return the shape, {@link Shape#SCALAR} for a scalar
     */
    public Shape shape() {
        return elements.shape();
    }

    /**
     * Returns the number of bytes of all elements.
     *
     * @return bytes; packed for elements smaller than a byte
     */
    public long byteSize() {
        return elements.byteSize();
    }

    /**
     * Returns whether {@link #close()} was called.
     *
     * @return true once closed
     */
    public boolean isClosed() {
        return elements.isClosed();
    }

    // -- reading

    /**
     * Copies the elements out as floats.
     *
     * @return all elements, row-major
     */
    public float[] toFloatArray() {
        return elements.read(data -> ElementArrays.floats(elementType(), data, arrayLength()));
    }

    /**
     * Copies the elements out as doubles.
     *
     * @return all elements, row-major
     */
    public double[] toDoubleArray() {
        return elements.read(data -> ElementArrays.doubles(elementType(), data, arrayLength()));
    }

    /**
     * Copies the elements out as ints.
     *
     * @return all elements, row-major
     */
    public int[] toIntArray() {
        return elements.read(data -> ElementArrays.ints(elementType(), data, arrayLength()));
    }

    /**
     * Copies the elements out as longs.
     *
     * @return all elements, row-major
     */
    public long[] toLongArray() {
        return elements.read(data -> ElementArrays.longs(elementType(), data, arrayLength()));
    }

    /**
     * Copies the elements out as shorts.
     *
     * @return all elements, row-major
     */
    public short[] toShortArray() {
        return elements.read(data -> ElementArrays.shorts(elementType(), data, arrayLength()));
    }

    /**
     * Copies the elements out as bytes, one value each. For the bytes in memory see {@link #rawBytes()}.
     *
     * @return all elements, row-major
     * @throws IreeException INVALID_ARGUMENT for types that are not integers; OUT_OF_RANGE for a value that does not fit a byte
     */
    public byte[] toByteArray() {
        return elements.read(data -> ElementArrays.bytes(elementType(), data, arrayLength()));
    }

    /**
     * Copies the elements out as booleans; every integer but 0 is true.
     *
     * @return all elements, row-major
     */
    public boolean[] toBooleanArray() {
        return elements.read(data -> ElementArrays.booleans(elementType(), data, arrayLength()));
    }

    /**
     * Copies the memory of the elements out, for any type.
     *
     * @return as many bytes as {@link #byteSize()}
     */
    public byte[] rawBytes() {
        return elements.read(data -> {
            if (byteSize() > Integer.MAX_VALUE - 8) {
                throw tooLong(byteSize());
            }
            return data.toArray(ValueLayout.JAVA_BYTE);
        });
    }

    /**
     * Copies the memory of the elements into the caller's memory.
     *
     * @param target at least {@link #byteSize()} bytes
     * @throws IreeException INVALID_ARGUMENT when the target is too short; FAILED_PRECONDITION when the target is
     *     closed or confined to another thread
     */
    public void copyTo(MemorySegment target) {
        checkFits(target, elementType(), shape(), byteSize());
        elements.read(data -> target.asSlice(0, byteSize()).copyFrom(data));
    }

    /**
     * Copies a part of the memory of the elements into memory of the caller. Reads all elements of a tensor in memory that
     * the host does not use in place: use {@link #onHost} before reading several parts.
     *
     * @param first the first byte, from 0
     * @param target receives as many bytes as the target has
     * @throws IreeException OUT_OF_RANGE when there are no such bytes; FAILED_PRECONDITION when the target is closed or
     *     confined to another thread
     */
    @NotForApplications
    public void copyPart(long first, MemorySegment target) {
        if (first < 0 || first > byteSize() - target.byteSize()) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "%s has %d bytes, not %d from %d".formatted(elements.name(), byteSize(), target.byteSize(), first));
        }
        elements.read(data -> target.copyFrom(data.asSlice(first, target.byteSize())));
    }

    /**
     * Copies rows, along the first dimension, into a new tensor without device memory.
     *
     * @param first the first row, from 0
     * @param rows number of rows
     * @return the tensor; needs no closing
     * @throws IreeException OUT_OF_RANGE when there are no such rows; INVALID_ARGUMENT for scalars and elements sharing
     *     a byte; RESOURCE_EXHAUSTED when the heap has no room for the copy
     */
    public Tensor copyRows(long first, long rows) {
        if (shape().rank() == 0 || !elementType().isByteAligned()) {
            throw invalid("%s has no rows that can be copied".formatted(elements.name()));
        }
        long all = shape().dimension(0);
        if (first < 0 || rows < 0 || first > all - rows) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "%s has no rows %d to %d".formatted(elements.name(), first, first + rows - 1));
        }
        long[] part = shape().dimensions();
        part[0] = rows;
        long row = all == 0 ? 0 : byteSize() / all;
        return new Tensor(elementType(), Shape.of(part), elements.copy(first * row, rows * row));
    }

    /**
     * Returns the same elements in another shape, without a copy.
     *
     * @param dimensions the shape, with as many elements
     * @return a tensor that shares the memory, also of a call in progress; closed by the caller like this tensor
     * @throws IreeException INVALID_ARGUMENT for another number of elements
     */
    @NotForApplications
    public Tensor reshape(long... dimensions) {
        Shape other = Shape.of(dimensions);
        if (other.elementCount() != shape().elementCount()) {
            throw invalid("%s has %d elements, and %s has %d"
                    .formatted(
                            elements.name(),
                            shape().elementCount(),
                            other.format(elementType()),
                            other.elementCount()));
        }
        TensorElements same = elements.reshape(other);
        return new Tensor(same, same.memory() == null || watch == null ? null : watch.leaks);
    }

    /** The first elements of each dimension: sharing memory if these elements come first, otherwise a copy without device memory. */
    Tensor corner(Shape part) {
        TensorElements corner = elements.corner(part);
        return new Tensor(corner, corner.memory() == null || watch == null ? null : watch.leaks);
    }

    /** Passes the bytes of the elements to a reader. */
    void look(Consumer<MemorySegment> reader) {
        elements.read(data -> {
            reader.accept(data);
            return data;
        });
    }

    /**
     * Writes the memory of the elements to a stream, row-major, little-endian.
     *
     * @param out the stream, receiving {@link #byteSize()} bytes; not closed
     * @throws IOException when the stream cannot be written
     */
    public void writeTo(OutputStream out) throws IOException {
        TensorStreams.write(elements, out);
    }

    /**
     * Copies this tensor into a tensor without device memory.
     *
     * @return the copy
     */
    public Tensor copyToHost() {
        return new Tensor(elementType(), shape(), elements.copy(0, byteSize()));
    }

    /**
     * Returns this tensor if the host uses the memory in place, such as memory of a CPU of this machine; otherwise a
     * {@link #copyToHost}. Reading the returned tensor does not need the device, which may be lost by then.
     *
     * @return this tensor, or a copy; the copy needs no closing
     * @throws IreeException the reason why the device does not give the elements, such as ABORTED for a lost device
     */
    @NotForApplications
    public Tensor onHost() {
        return elements.isOnHost() ? this : copyToHost();
    }

    /**
     * Writes the tensor in the format of {@code iree-run-module}, {@code 2x2xf32=[1 2][3 4]}.
     *
     * @param maximumElements number of elements to write before {@code ...}
     * @return the text
     */
    public String format(long maximumElements) {
        return format(Math.max(0, maximumElements), true);
    }

    private String format(long maximumElements, boolean everyRow) {
        return elements.read(data -> {
            StringBuilder out = new StringBuilder();
            TensorText.append(out, data, elementType(), shape(), maximumElements, everyRow);
            return out.toString();
        });
    }

    /** The text of {@link #format} shortened, or, when closed, type and shape. */
    @Override
    public String toString() {
        if (elements.isClosed()) {
            return "closed " + elements.name();
        }
        try {
            return format(TEXT_ELEMENTS, false);
        } catch (IreeException e) {
            return elements.name() + " (" + e.getMessage() + ")";
        }
    }

    /**
     * Marks this tensor as an input to transfer: {@code function.invoke(state.transfer(), x)}. The receiving call
     * closes this tensor, so that every later use fails with FAILED_PRECONDITION, and the memory belongs to the
     * program. The program may free or reuse the memory after the last use, in order with other work; the memory is
     * freed at the latest when the call and its work are complete. If an input does not fit, nothing is transferred;
     * after this check the call owns the tensor, even if the call fails. An input passed without a transfer is lent:
     * the program cannot free the input, and the input stays as long as this tensor is open.
     *
     * <p>Memory with other users, through a result sharing the memory or a call in progress borrowing the memory, stays
     * until these users end.
     *
     * @return the input to pass instead of this tensor; needs no closing
     */
    public TransferredTensor transfer() {
        return new TransferredTensor(this);
    }

    /** Frees a result's device memory, now or when the last current use ends. Idempotent. */
    @Override
    public void close() {
        closeOnce();
    }

    private boolean closeOnce() {
        try {
            boolean first = elements.close();
            if (first && watch != null) {
                watch.closed();
            }
            return first;
        } finally {
            Reference.reachabilityFence(this); // otherwise the collector may see the tensor as dropped, not closed
        }
    }

    /** Closes the tensor on behalf of a call; false when the tensor was closed already. */
    boolean giveAway() {
        if (!closeOnce()) {
            return false;
        }
        elements.transferred();
        return true;
    }

    // -- for calls

    TensorElements elements() {
        return elements;
    }

    private int arrayLength() {
        long count = shape().elementCount();
        if (count > Integer.MAX_VALUE - 8) {
            throw tooLong(count);
        }
        return (int) count;
    }

    private IreeException tooLong(long length) {
        return IreeException.of(
                StatusCode.RESOURCE_EXHAUSTED,
                "%s with %d elements does not fit a Java array; use copyTo".formatted(elements.name(), length));
    }

    private static void checkFits(MemorySegment segment, ElementType type, Shape shape, long size) {
        if (segment.byteSize() < size) {
            throw invalid("segment of %d bytes is too short for %s, which takes %d bytes"
                    .formatted(segment.byteSize(), shape.format(type), size));
        }
    }

    private static IreeException invalid(String message) {
        return IreeException.of(StatusCode.INVALID_ARGUMENT, message);
    }
}

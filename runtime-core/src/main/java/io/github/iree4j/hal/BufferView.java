package io.github.iree4j.hal;

import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;

/**
 * A buffer with a shape and an element type: the form of arguments and results of compiled functions. Immutable; holds
 * a reference to the buffer.
 */
public final class BufferView extends Resource {
    /** Unspecified encoding; the length of the data cannot be computed from the shape. */
    public static final int ENCODING_OPAQUE = 0;

    /** Densely packed, last dimension fastest. */
    public static final int ENCODING_DENSE_ROW_MAJOR = 1;

    private final Buffer buffer;
    private final long[] shape;
    private final ElementType elementType;
    private final int encoding;
    private final long elementCount;
    private final long byteLength;

    private BufferView(Buffer buffer, long[] shape, ElementType elementType, int encoding, long count, long bytes) {
        this.buffer = buffer;
        this.shape = shape;
        this.elementType = elementType;
        this.encoding = encoding;
        this.elementCount = count;
        this.byteLength = bytes;
    }

    /**
     * Creates a view of a whole buffer.
     *
     * @param buffer the bytes; retained
     * @param shape dimensions, outermost first; copied
     * @param elementType type of the elements
     * @param encoding {@link #ENCODING_DENSE_ROW_MAJOR}, {@link #ENCODING_OPAQUE} or a compiler's own number
     * @return the view; the caller closes it
     * @throws IreeException INVALID_ARGUMENT for an impossible shape, OUT_OF_RANGE when densely packed elements of the
     *     shape need more bytes than the buffer has
     */
    public static BufferView create(Buffer buffer, long[] shape, ElementType elementType, int encoding) {
        buffer.retain();
        try {
            return adopt(buffer, shape, elementType, encoding);
        } catch (RuntimeException | Error e) {
            buffer.release();
            throw e;
        }
    }

    /**
     * Creates a view of a whole buffer and transfers the buffer to the view.
     *
     * @param buffer the bytes; the caller's reference passes to the view, unless this call throws
     * @param shape dimensions, outermost first; copied
     * @param elementType type of the elements
     * @param encoding as {@link #create}
     * @return the view; the caller closes it
     * @throws IreeException as {@link #create}; the caller keeps the reference then
     */
    public static BufferView adopt(Buffer buffer, long[] shape, ElementType elementType, int encoding) {
        long[] copy = shape.clone();
        long count = Shape.elementCount(copy);
        long bytes = elementType.byteSize(count);
        if (encoding == ENCODING_DENSE_ROW_MAJOR && bytes > buffer.length()) {
            throw new IreeException(
                    StatusCode.OUT_OF_RANGE,
                    "%s needs %d bytes and does not fit buffer of %d bytes"
                            .formatted(Shape.format(copy, elementType), bytes, buffer.length()));
        }
        return new BufferView(buffer, copy, elementType, encoding, count, bytes);
    }

    /**
     * Returns the bytes.
     *
     * @return the buffer, borrowed
     */
    public Buffer buffer() {
        return buffer;
    }

    /**
     * Returns the dimensions.
     *
     * @return a copy, outermost first
     */
    public long[] shape() {
        return shape.clone();
    }

    /**
     * Returns the number of dimensions.
     *
     * @return 0 for a scalar
     */
    public int rank() {
        return shape.length;
    }

    /**
     * Returns a dimension.
     *
     * @param index 0 is the outermost
     * @return number of elements along the dimension
     * @throws IreeException OUT_OF_RANGE when there is no such dimension
     */
    public long dimension(int index) {
        if (index < 0 || index >= shape.length) {
            throw new IreeException(
                    StatusCode.OUT_OF_RANGE,
                    "dimension " + index + " of a view of rank " + shape.length + " does not exist");
        }
        return shape[index];
    }

    /**
     * Returns whether the view has exactly these dimensions.
     *
     * @param dimensions outermost first
     * @return true if rank and dimensions are equal
     */
    public boolean hasShape(long... dimensions) {
        return Shape.equal(shape, dimensions);
    }

    /**
     * Returns the type of the elements.
     *
     * @return the type
     */
    public ElementType elementType() {
        return elementType;
    }

    /**
     * Returns the layout of the elements.
     *
     * @return {@link #ENCODING_DENSE_ROW_MAJOR}, {@link #ENCODING_OPAQUE} or a compiler's own number
     */
    public int encoding() {
        return encoding;
    }

    /**
     * Returns the number of elements of the shape.
     *
     * @return the product of the dimensions
     */
    public long elementCount() {
        return elementCount;
    }

    /**
     * Returns the number of bytes of the densely packed elements.
     *
     * @return bytes; the buffer may be longer
     */
    public long byteLength() {
        return byteLength;
    }

    /** Prints shape and type, for example {@code 4xf32}. */
    @Override
    public String toString() {
        return Shape.format(shape, elementType);
    }

    @Override
    protected String describe() {
        return "buffer view " + this;
    }

    @Override
    protected void destroy() {
        buffer.release();
    }
}

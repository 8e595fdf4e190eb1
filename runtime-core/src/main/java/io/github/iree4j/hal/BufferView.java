package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;

/**
 * A buffer with a shape and an element type: the form of arguments and results of compiled functions. Immutable; holds
 * a reference to the buffer.
 */
@NotForApplications
public final class BufferView extends Resource {
    /** Unspecified encoding; the length of the data cannot be computed from the shape. */
    public static final int ENCODING_OPAQUE = 0;

    /** Densely packed, last dimension fastest. */
    public static final int ENCODING_DENSE_ROW_MAJOR = 1;

    private final Buffer buffer;
    private final Shape shape;
    private final ElementType elementType;
    private final int encoding;
    private final long byteLength;

    private BufferView(Buffer buffer, Shape shape, ElementType elementType, int encoding, long bytes) {
        this.buffer = buffer;
        this.shape = shape;
        this.elementType = elementType;
        this.encoding = encoding;
        this.byteLength = bytes;
    }

    /**
     * Creates a view of a whole buffer.
     *
     * @param buffer the bytes; retained
     * @param shape the dimensions
     * @param elementType type of the elements
     * @param encoding {@link #ENCODING_DENSE_ROW_MAJOR}, {@link #ENCODING_OPAQUE} or a compiler's own number
     * @return the view; the caller closes it
     * @throws IreeException OUT_OF_RANGE when densely packed elements of the shape need more bytes than the buffer has
     */
    public static BufferView create(Buffer buffer, Shape shape, ElementType elementType, int encoding) {
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
     * @param shape the dimensions
     * @param elementType type of the elements
     * @param encoding as {@link #create}
     * @return the view; the caller closes it
     * @throws IreeException as {@link #create}; the caller keeps the reference then
     */
    public static BufferView adopt(Buffer buffer, Shape shape, ElementType elementType, int encoding) {
        long bytes = elementType.byteSize(shape.elementCount());
        if (encoding == ENCODING_DENSE_ROW_MAJOR && bytes > buffer.length()) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "%s needs %d bytes and does not fit buffer of %d bytes"
                            .formatted(shape.format(elementType), bytes, buffer.length()));
        }
        return new BufferView(buffer, shape, elementType, encoding, bytes);
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
     * @return the shape
     */
    public Shape shape() {
        return shape;
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
        return shape.format(elementType);
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

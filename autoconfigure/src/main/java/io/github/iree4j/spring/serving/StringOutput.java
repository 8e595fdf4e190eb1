package io.github.iree4j.spring.serving;

import io.github.iree4j.Tensor;
import io.github.iree4j.hal.Shape;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import tools.jackson.core.JsonGenerator;

/**
 * A tensor of 8-bit integers as texts: each row is a text, without the zeros at the row's end. The rows are copied to
 * the heap once; a text exists only while being written, since a million short texts would take a hundred times their
 * tensor's memory.
 */
final class StringOutput {

    private final Shape shape;
    private final byte[] rows;
    private final int row;
    private final long size;

    private StringOutput(Shape shape, byte[] rows) {
        this.shape = shape;
        this.rows = rows;
        long count = shape.elementCount();
        this.row = count == 0 ? 0 : (int) (rows.length / count);
        long sum = count * StringElements.LENGTH;
        for (long i = 0; row > 0 && i < count; i++) {
            sum += length(i);
        }
        this.size = sum;
    }

    /** Copies the rows of a tensor. */
    static StringOutput of(Tensor tensor) {
        return new StringOutput(shape(tensor), tensor.rawBytes());
    }

    /** Returns the maximum of {@link #size} and of the memory of the rows, without looking at the rows. */
    static long most(Tensor tensor) {
        return tensor.byteSize() + shape(tensor).elementCount() * StringElements.LENGTH;
    }

    private static Shape shape(Tensor tensor) {
        long[] dimensions = tensor.shape().dimensions();
        return dimensions.length < 2 ? Shape.of(1) : Shape.of(Arrays.copyOf(dimensions, dimensions.length - 1));
    }

    /** Returns the shape of the texts. */
    Shape shape() {
        return shape;
    }

    /** Returns the number of texts. */
    long count() {
        return shape.elementCount();
    }

    /** Returns the size in binary, in bytes. */
    long size() {
        return size;
    }

    private int start(long text) {
        return (int) (text * row);
    }

    private int length(long text) {
        int start = start(text);
        int length = row;
        while (length > 0 && rows[start + length - 1] == 0) {
            length--;
        }
        return length;
    }

    /** Writes the texts in binary, each after its length. */
    void writeTo(OutputStream out) throws IOException {
        ByteBuffer prefix = ByteBuffer.allocate(StringElements.LENGTH).order(ByteOrder.LITTLE_ENDIAN);
        for (long i = 0; i < count(); i++) {
            int length = length(i);
            out.write(prefix.putInt(0, length).array());
            out.write(rows, start(i), length);
        }
    }

    /**
     * Checks that JSON, which has characters rather than bytes, can express the texts.
     *
     * @param output name of the output
     */
    void requireUtf8(String output) {
        CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();
        CharBuffer discarded = CharBuffer.allocate(1 << 10);
        for (long i = 0; row > 0 && i < count(); i++) {
            ByteBuffer text = ByteBuffer.wrap(rows, start(i), length(i));
            decoder.reset();
            CoderResult result;
            do {
                result = decoder.decode(text, discarded.clear(), true);
            } while (result.isOverflow());
            if (result.isError()) {
                throw InferenceRequest.invalid(
                        "element %d of output '%s' is not UTF-8; ask for the output in binary".formatted(i, output));
            }
        }
    }

    /** Writes the texts as strings, without brackets. */
    void writeTo(JsonGenerator json) {
        for (long i = 0; i < count(); i++) {
            json.writeUTF8String(rows, start(i), length(i));
        }
    }
}

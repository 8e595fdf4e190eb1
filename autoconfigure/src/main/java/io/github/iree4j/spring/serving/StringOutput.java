package io.github.iree4j.spring.serving;

import io.github.iree4j.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A tensor of 8-bit integers as texts: each row is a text, without the zeros at the row's end.
 *
 * @param shape the shape of the texts
 * @param contents the texts as in binary, each preceded by its length
 */
record StringOutput(long[] shape, byte[] contents) {

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;

    static StringOutput of(Tensor tensor) {
        byte[] rows = tensor.toBytes();
        long[] dimensions = tensor.shape();
        long[] shape = dimensions.length < 2 ? new long[] {1} : Arrays.copyOf(dimensions, dimensions.length - 1);
        int count = (int) Arrays.stream(shape).reduce(1, (a, b) -> a * b);
        int row = count == 0 ? 0 : rows.length / count;
        long size = (long) count * StringElements.LENGTH;
        for (int i = 0; i < count; i++) {
            size += length(rows, i * row, row);
        }
        byte[] contents = new byte[Math.toIntExact(size)];
        int at = 0;
        for (int i = 0; i < count; i++) {
            int length = length(rows, i * row, row);
            MemorySegment.ofArray(contents).set(INT, at, length);
            System.arraycopy(rows, i * row, contents, at + StringElements.LENGTH, length);
            at += StringElements.LENGTH + length;
        }
        return new StringOutput(shape, contents);
    }

    private static int length(byte[] rows, int at, int row) {
        int length = row;
        while (length > 0 && rows[at + length - 1] == 0) {
            length--;
        }
        return length;
    }

    /** Returns the texts, for JSON, which can express only the bytes of texts. */
    List<String> texts(String output) {
        List<String> texts = new ArrayList<>();
        int at = 0;
        while (at < contents.length) {
            int length = MemorySegment.ofArray(contents).get(INT, at);
            try {
                texts.add(StandardCharsets.UTF_8
                        .newDecoder()
                        .decode(ByteBuffer.wrap(contents, at + StringElements.LENGTH, length))
                        .toString());
            } catch (CharacterCodingException e) {
                throw InferenceRequest.invalid("element %d of output '%s' is not UTF-8; ask for the output in binary"
                        .formatted(texts.size(), output));
            }
            at += StringElements.LENGTH + length;
        }
        return texts;
    }
}

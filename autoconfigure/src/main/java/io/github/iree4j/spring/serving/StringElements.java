package io.github.iree4j.spring.serving;

import io.github.iree4j.Program;
import io.github.iree4j.Tensor;
import io.github.iree4j.ValueDeclaration;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.spring.http.LimitedBody;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;

/**
 * Arriving elements of {@link Datatype#BYTES}: texts with explicit lengths. Texts become rows of a tensor of 8-bit
 * integers, whose last dimension holds the bytes; shorter texts are padded with zeros. Charged memory grows with the
 * bytes that have arrived.
 */
final class StringElements {

    /** Size of the length before each element in binary, little-endian. */
    static final int LENGTH = Integer.BYTES;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    private static final int PART = 1 << 13;
    private static final int MOST = Integer.MAX_VALUE - 64;

    private final String input;
    private final ValueDeclaration argument;
    private final Shape shape;
    private final long count;
    private final LimitedBody body;
    /** The elements preceded by lengths, as in binary. */
    private byte[] bytes = {};

    private int size;
    private long read;
    private int longest;

    /**
     * Creates a reader.
     *
     * @param input the name of the input
     * @param argument the argument receiving the input
     * @param shape the shape of the elements, without the dimension for the bytes
     * @param body is charged
     */
    StringElements(String input, ValueDeclaration argument, Shape shape, LimitedBody body) {
        if (!canHold(argument)) {
            throw InferenceRequest.invalid("input '%s' (%s) cannot be BYTES, which become tensors of 8-bit integers"
                    .formatted(input, argument.type()));
        }
        this.input = input;
        this.argument = argument;
        this.shape = shape;
        this.count = shape.elementCount();
        this.body = body;
    }

    /** Returns whether a value may hold texts: a tensor of 8-bit integers, or a value without a type declared by the module. */
    static boolean canHold(ValueDeclaration value) {
        return value.elementType()
                .map(type -> value.isTensor() && canHold(type))
                .orElseGet(() -> value.type().equals("!vm.ref<?>"));
    }

    static boolean canHold(ElementType type) {
        return type.isInteger() && type.bitCount() == Byte.SIZE && !type.equals(ElementType.BOOL_8);
    }

    /** Adds an element. */
    void add(byte[] element) {
        begin(element.length);
        reserve(element.length);
        System.arraycopy(element, 0, bytes, size, element.length);
        size += element.length;
    }

    /** Reads elements with lengths, in total the given number of bytes. */
    void read(InputStream in, long length) throws IOException {
        long left = length;
        while (left > 0) {
            byte[] prefix = in.readNBytes((int) Math.min(left, LENGTH));
            if (prefix.length < LENGTH) {
                throw InferenceRequest.invalid(
                        "contents of input '%s' end within the length of element %d".formatted(input, read));
            }
            left -= LENGTH;
            int element = MemorySegment.ofArray(prefix).get(INT, 0);
            if (element < 0 || element > left) {
                throw InferenceRequest.invalid("element %d of input '%s' has %d bytes, but %d are left"
                        .formatted(read, input, Integer.toUnsignedLong(element), left));
            }
            begin(element);
            for (int missing = element; missing > 0; ) {
                reserve(Math.min(missing, PART));
                int got = in.read(bytes, size, Math.min(missing, PART));
                if (got < 0) {
                    throw InferenceRequest.invalid(
                            "contents of input '%s' end within element %d".formatted(input, read - 1));
                }
                size += got;
                missing -= got;
            }
            left -= element;
        }
    }

    private void begin(int length) {
        if (read == count) {
            throw InferenceRequest.invalid("input '%s' has more elements than shape %s, which has %d"
                    .formatted(input, Arrays.toString(shape.dimensions()), count));
        }
        read++;
        longest = Math.max(longest, length);
        reserve(LENGTH);
        MemorySegment.ofArray(bytes).set(INT, size, length);
        size += LENGTH;
    }

    private void reserve(int more) {
        if (bytes.length - size >= more) {
            return;
        }
        if (size > MOST - more) {
            throw InferenceRequest.invalid("input '%s' takes more than %d bytes".formatted(input, MOST));
        }
        int grown = (int) Math.min(MOST, Math.max(size + (long) more, 2L * size));
        body.charge(grown - bytes.length);
        bytes = Arrays.copyOf(bytes, grown);
    }

    /** Makes the tensor from all elements. */
    Tensor upload(Program program) throws IOException {
        if (read != count) {
            throw InferenceRequest.invalid("input '%s' has %d elements, but shape %s has %d"
                    .formatted(input, read, Arrays.toString(shape.dimensions()), count));
        }
        Shape rows = rows();
        long row = rows.dimension(rows.rank() - 1);
        body.charge(row * count); // before allocation: one long element makes all rows long
        ElementType type = argument.elementType().orElse(ElementType.UI8);
        Tensor tensor = program.receive(type, rows, memory -> fill(memory, row));
        body.refund(bytes.length);
        return tensor;
    }

    private Shape rows() {
        List<Long> declared = argument.shape().orElse(null);
        boolean single = declared != null && declared.size() == 1 && count == 1;
        long[] rows = single ? new long[1] : Arrays.copyOf(shape.dimensions(), shape.rank() + 1);
        long room = declared != null && declared.size() == rows.length ? declared.getLast() : -1;
        if (room >= 0 && longest > room) {
            throw InferenceRequest.invalid("input '%s' (%s) has an element of %d bytes; there is room for %d"
                    .formatted(input, argument.type(), longest, room));
        }
        rows[rows.length - 1] = room >= 0 ? room : longest;
        return Shape.of(rows);
    }

    private void fill(MemorySegment memory, long row) {
        MemorySegment from = MemorySegment.ofArray(bytes);
        int at = 0;
        for (long to = 0; at < size; to += row) {
            int length = from.get(INT, at);
            MemorySegment.copy(from, at + LENGTH, memory, to, length);
            memory.asSlice(to + length, row - length).fill((byte) 0);
            at += LENGTH + length;
        }
    }
}

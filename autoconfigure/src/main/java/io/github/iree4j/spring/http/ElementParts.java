package io.github.iree4j.spring.http;

import io.github.iree4j.Tensor;
import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.hal.ElementType;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/**
 * The elements of a tensor, some thousands at a time: as Java values, a whole output may take eight times the output's
 * memory, not counted by any limit of requests.
 */
@NotForApplications
public final class ElementParts extends OutputStream {

    private static final int BYTES = 1 << 14;

    private final ElementType type;
    private final Consumer<Tensor> each;
    private final byte[] part = new byte[BYTES];
    private int count;

    private ElementParts(ElementType type, Consumer<Tensor> each) {
        this.type = type;
        this.each = each;
    }

    /**
     * Passes on the elements of a tensor, in order.
     *
     * @param tensor with elements of whole bytes
     * @param each receives tensors of one dimension, borrowed for the call
     */
    public static void forEach(Tensor tensor, Consumer<Tensor> each) {
        ElementParts parts = new ElementParts(tensor.elementType(), each);
        try {
            tensor.writeTo(parts);
        } catch (IOException e) {
            throw new UncheckedIOException(e); // never thrown by this stream itself
        }
        parts.pass();
    }

    private void pass() {
        if (count == 0) {
            return;
        }
        long elements = (long) count * Byte.SIZE / type.bitCount();
        try (Tensor some = Tensor.wrap(MemorySegment.ofArray(part), type, elements)) {
            each.accept(some);
        }
        count = 0;
    }

    @Override
    public void write(int value) {
        write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) {
        for (int done = 0; done < length; ) {
            int some = Math.min(length - done, BYTES - count);
            System.arraycopy(bytes, offset + done, part, count, some);
            count += some;
            done += some;
            if (count == BYTES) {
                pass();
            }
        }
    }
}

package io.github.iree4j.flight;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.LongSupplier;

/**
 * A text within a record, dropped with the record, unlike a name of {@link Definitions}: for texts unlimited in number.
 * The words are the number of bytes, then UTF-8, eight bytes a word, the first byte in bits 0 to 7.
 */
final class RecordText {
    static final RecordText NONE = of("");

    private final long[] words;

    private RecordText(long[] words) {
        this.words = words;
    }

    static RecordText of(String text) {
        byte[] bytes = Definitions.shortened(text).getBytes(StandardCharsets.UTF_8);
        int packed = packed(bytes.length);
        long[] words = new long[1 + packed];
        words[0] = bytes.length;
        buffer(Arrays.copyOf(bytes, packed * Long.BYTES)).asLongBuffer().get(words, 1, packed);
        return new RecordText(words);
    }

    int words() {
        return words.length;
    }

    void put(WordTarget record) {
        for (long each : words) {
            record.put(each);
        }
    }

    /** Decodes a text of a number of bytes from packed words. */
    static String read(int bytes, LongSupplier words) {
        byte[] all = new byte[packed(bytes) * Long.BYTES];
        ByteBuffer target = buffer(all);
        while (target.hasRemaining()) {
            target.putLong(words.getAsLong());
        }
        return new String(all, 0, bytes, StandardCharsets.UTF_8);
    }

    private static int packed(int bytes) {
        return Math.ceilDiv(bytes, Long.BYTES);
    }

    private static ByteBuffer buffer(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }
}

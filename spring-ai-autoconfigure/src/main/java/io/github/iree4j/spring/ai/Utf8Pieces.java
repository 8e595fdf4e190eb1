package io.github.iree4j.spring.ai;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/**
 * Decodes UTF-8 that arrives in pieces. Bytes of an unfinished character are held back; bytes that belong to no character
 * become U+FFFD. Not thread-safe.
 */
final class Utf8Pieces {
    private final CharsetDecoder decoder = StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPLACE)
            .onUnmappableCharacter(CodingErrorAction.REPLACE);

    private byte[] unfinished = {}; // at most 3 bytes

    /** Adds bytes, and returns the finished characters. */
    String add(byte[] bytes) {
        ByteBuffer in = ByteBuffer.allocate(unfinished.length + bytes.length)
                .put(unfinished)
                .put(bytes)
                .flip();
        return decoded(in, false);
    }

    /** Returns whether bytes of an unfinished character are held back. */
    boolean isUnfinished() {
        return unfinished.length > 0;
    }

    /** Ends the text, and returns U+FFFD for an unfinished character. */
    String finish() {
        return decoded(ByteBuffer.wrap(unfinished), true);
    }

    private String decoded(ByteBuffer in, boolean end) {
        CharBuffer out = CharBuffer.allocate(in.remaining() + 2); // no character has fewer bytes than UTF-16 units
        decoder.decode(in, out, end);
        unfinished = new byte[in.remaining()];
        in.get(unfinished);
        return out.flip().toString();
    }
}

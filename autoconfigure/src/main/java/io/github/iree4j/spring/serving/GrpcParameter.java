package io.github.iree4j.spring.serving;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A named parameter of a request.
 *
 * @param name the parameter's name
 * @param number the parameter's value; null for a value that is no integer
 */
record GrpcParameter(String name, @Nullable Long number) {

    /** Reads an entry of a map of {@code InferParameter}. */
    static GrpcParameter read(byte[] bytes) throws IOException {
        ProtoReader entry = new ProtoReader("parameter", new ByteArrayInputStream(bytes), bytes.length);
        String name = "";
        Long number = null;
        while (entry.next()) {
            switch (entry.field()) {
                case 1 -> name = entry.string();
                case 2 -> number = number(entry.bytes());
                default -> entry.skip();
            }
        }
        return new GrpcParameter(name, number);
    }

    private static @Nullable Long number(byte[] bytes) throws IOException {
        ProtoReader value = new ProtoReader("parameter", new ByteArrayInputStream(bytes), bytes.length);
        Long number = null;
        while (value.next()) {
            switch (value.field()) {
                case 2, 5 -> number = value.varint();
                default -> value.skip();
            }
        }
        return number;
    }
}

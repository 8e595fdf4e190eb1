package io.github.iree4j.spring.serving;

import io.grpc.Drainable;
import io.grpc.KnownLength;
import io.grpc.MethodDescriptor.Marshaller;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A message sent by the server: encoded bytes, and tensor contents copied from tensor memory directly into the
 * transport's memory.
 */
final class GrpcMessage {

    /** Marshaller of requests; requests are read from the transport's memory when handled. */
    static final Marshaller<InputStream> REQUEST = new Marshaller<>() {
        @Override
        public InputStream stream(InputStream value) {
            return value;
        }

        @Override
        public InputStream parse(InputStream stream) {
            return stream;
        }
    };

    static final Marshaller<GrpcMessage> RESPONSE = new Marshaller<>() {
        @Override
        public InputStream stream(GrpcMessage value) {
            return value.stream();
        }

        @Override
        public GrpcMessage parse(InputStream stream) {
            throw new IllegalStateException("the server sends this message, and does not read it");
        }
    };

    private final List<Part> parts = new ArrayList<>();
    private long size;
    private @Nullable Contents stream;

    /** Writes a part of the message. */
    @FunctionalInterface
    interface Part {
        void writeTo(OutputStream out) throws IOException;
    }

    GrpcMessage add(byte[] encoded) {
        return add(encoded.length, out -> out.write(encoded));
    }

    GrpcMessage add(long bytes, Part part) {
        size += bytes;
        parts.add(part);
        return this;
    }

    GrpcMessage add(GrpcMessage other) {
        size += other.size;
        parts.addAll(other.parts);
        return this;
    }

    /** Returns the length in bytes. */
    long size() {
        return size;
    }

    /** Copies the contents if the transport, such as an in-process transport, has not written the contents yet. */
    void detach() {
        Contents last = stream;
        if (last != null && !last.drained) {
            try {
                last.copy();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private Contents stream() {
        Contents made = new Contents();
        stream = made;
        return made;
    }

    private void writeTo(OutputStream out) throws IOException {
        for (Part part : parts) {
            part.writeTo(out);
        }
    }

    /** The stream used by transports to write; transports without a network read the stream. */
    private final class Contents extends InputStream implements Drainable, KnownLength {
        private @Nullable ByteArrayInputStream copy;
        private boolean drained;

        @Override
        public int drainTo(OutputStream target) throws IOException {
            drained = true;
            writeTo(target);
            return (int) size;
        }

        private ByteArrayInputStream copy() throws IOException {
            if (copy == null) {
                ByteArrayOutputStream bytes = new ByteArrayOutputStream((int) size);
                writeTo(bytes);
                copy = new ByteArrayInputStream(bytes.toByteArray());
            }
            return copy;
        }

        @Override
        public int read() throws IOException {
            return copy().read();
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            return copy().read(target, offset, length);
        }

        @Override
        public int available() {
            return drained ? 0 : copy == null ? (int) size : copy.available();
        }
    }
}

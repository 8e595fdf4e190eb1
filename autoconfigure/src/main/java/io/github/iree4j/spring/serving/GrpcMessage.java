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
 * A message that the server sends: what has been encoded, and contents of tensors, which are written from their memory
 * right into the transport's.
 */
final class GrpcMessage {

    /** Requests are read from the transport's memory when they are handled. */
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

    /** Its length in bytes. */
    long size() {
        return size;
    }

    /** Keeps its own contents from now on if the transport has not written them yet, as one without a network. */
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

    /** The stream that transports write from; those without a network read it. */
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

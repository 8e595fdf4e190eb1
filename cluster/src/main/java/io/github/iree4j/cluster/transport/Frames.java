package io.github.iree4j.cluster.transport;

import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.hal.remote.PeerListener;
import io.github.iree4j.hal.remote.PeerStream;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.grpc.Attributes;
import io.grpc.Drainable;
import io.grpc.Grpc;
import io.grpc.HasByteBuffer;
import io.grpc.KnownLength;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Frames as messages of gRPC: the unchanged bytes, a message for each frame. */
final class Frames {

    static final String SERVICE = "iree4j.Peer";

    /** The sender, a {@code ClusterMember}. */
    static final Metadata.Key<byte[]> NODE = Metadata.Key.of("iree-node-bin", Metadata.BINARY_BYTE_MARSHALLER);

    /** The connection of a stream, 16 random bytes. */
    static final Metadata.Key<byte[]> CONNECTION =
            Metadata.Key.of("iree-connection-bin", Metadata.BINARY_BYTE_MARSHALLER);

    /** In trailers: the connection is over. Without it, the network may have ended the streams. */
    static final Metadata.Key<byte[]> END = Metadata.Key.of("iree-end-bin", Metadata.BINARY_BYTE_MARSHALLER);

    /**
     * Asks to continue a {@link LastingConnection}: the number of its first connection, of 16 bytes, and the frames received
     * by the dialing side of each stream, big-endian. In the answer: the frames received by the accepting side.
     */
    static final Metadata.Key<byte[]> RESUME = Metadata.Key.of("iree-resume-bin", Metadata.BINARY_BYTE_MARSHALLER);

    /** Signs of life of the membership, each with its answer. */
    static final MethodDescriptor<InputStream, InputStream> MEMBERSHIP = method("membership", MethodType.UNARY);

    private static final int COPY_BYTES = 64 << 10;
    private static final int PIECES_LIMIT = 256;

    private Frames() {}

    static MethodDescriptor<InputStream, InputStream> method(PeerStream stream) {
        return method(stream.name().toLowerCase(Locale.ROOT), MethodType.BIDI_STREAMING);
    }

    private static MethodDescriptor<InputStream, InputStream> method(String name, MethodType type) {
        return MethodDescriptor.<InputStream, InputStream>newBuilder()
                .setType(type)
                .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, name))
                .setRequestMarshaller(Raw.INSTANCE)
                .setResponseMarshaller(Raw.INSTANCE)
                .build();
    }

    /** Returns a frame to send. gRPC copies the frame before the sending call returns. */
    static InputStream outgoing(ByteBuffer head, ByteBuffer body) {
        return new Outgoing(head, body);
    }

    /** How a stream ended. */
    static IreeException failure(String peer, Status status) {
        String reason = status.getDescription();
        Throwable cause = status.getCause();
        String root = rootMessage(cause);
        StatusCode code = switch (status.getCode()) {
            case RESOURCE_EXHAUSTED -> StatusCode.RESOURCE_EXHAUSTED;
            case UNAUTHENTICATED -> StatusCode.UNAUTHENTICATED;
            case PERMISSION_DENIED -> StatusCode.PERMISSION_DENIED;
            case UNIMPLEMENTED -> StatusCode.INCOMPATIBLE;
            case NOT_FOUND -> StatusCode.NOT_FOUND;
            case DEADLINE_EXCEEDED -> StatusCode.DEADLINE_EXCEEDED;
            default -> StatusCode.UNAVAILABLE;
        };
        return IreeException.of(
                code,
                "connection to %s ended: %s%s%s"
                        .formatted(
                                peer,
                                status.getCode(),
                                reason == null
                                        ? ""
                                        : ", " + reason.lines().findFirst().orElse(""),
                                root == null ? "" : ", " + root),
                cause);
    }

    /**
     * Returns the sender named in the headers of a call.
     *
     * @param connection the attributes of the call
     * @param tls whether nodes show certificates
     * @throws IreeException INCOMPATIBLE without a sender, DATA_LOSS for a damaged sender, UNAUTHENTICATED or
     *     PERMISSION_DENIED when the certificate does not name the sender's host
     */
    static ClusterMember sender(Metadata headers, Attributes connection, boolean tls) {
        byte[] node = headers.get(NODE);
        if (node == null) {
            throw IreeException.of(StatusCode.INCOMPATIBLE, "it is no node of iree4j");
        }
        ClusterMember member = ClusterMember.decode(node);
        if (tls) {
            CertificateNames.check(connection.get(Grpc.TRANSPORT_ATTR_SSL_SESSION), member.host());
        }
        return member;
    }

    /** Refuses a message or stream of a peer. */
    static Status refusal(IreeException cause) {
        Status status = switch (cause.code()) {
            case PERMISSION_DENIED -> Status.PERMISSION_DENIED;
            case UNAUTHENTICATED -> Status.UNAUTHENTICATED;
            case UNAVAILABLE -> Status.NOT_FOUND; // UNAVAILABLE is the network's
            case RESOURCE_EXHAUSTED -> Status.RESOURCE_EXHAUSTED;
            default -> Status.INVALID_ARGUMENT;
        };
        return status.withDescription(cause.getMessage());
    }

    /** Returns the message of the innermost cause, such as a certificate of another host; outer causes only name the TLS engine. */
    private static @Nullable String rootMessage(@Nullable Throwable cause) {
        String message = null;
        for (Throwable each = cause; each != null; each = each.getCause()) {
            message = each.getMessage() == null ? message : each.getMessage();
        }
        return message;
    }

    /** Passes messages as streams of bytes. */
    private static final class Raw implements MethodDescriptor.Marshaller<InputStream> {
        private static final Raw INSTANCE = new Raw();

        @Override
        public InputStream stream(InputStream value) {
            return value;
        }

        @Override
        public InputStream parse(InputStream stream) {
            return stream;
        }
    }

    /** The bytes of a frame to send, as read by gRPC. */
    private static final class Outgoing extends InputStream implements KnownLength, Drainable {
        private final ByteBuffer head;
        private final ByteBuffer body;

        Outgoing(ByteBuffer head, ByteBuffer body) {
            this.head = head;
            this.body = body;
        }

        @Override
        public int available() {
            return head.remaining() + body.remaining();
        }

        @Override
        public int drainTo(OutputStream target) throws IOException {
            int length = available();
            write(head, target);
            write(body, target);
            return length;
        }

        private static void write(ByteBuffer from, OutputStream target) throws IOException {
            if (from.hasArray()) {
                target.write(from.array(), from.arrayOffset() + from.position(), from.remaining());
                from.position(from.limit());
                return;
            }
            byte[] copy = new byte[Math.min(COPY_BYTES, from.remaining())];
            while (from.hasRemaining()) {
                int length = Math.min(copy.length, from.remaining());
                from.get(copy, 0, length);
                target.write(copy, 0, length);
            }
        }

        @Override
        public int read() {
            return head.hasRemaining() ? head.get() & 0xFF : body.hasRemaining() ? body.get() & 0xFF : -1;
        }
    }

    /** Passes an arrived frame on: a long frame in the pieces in which the frame came. */
    static void deliver(InputStream message, PeerStream stream, PeerListener receiver) throws IOException {
        int length = message.available();
        HasByteBuffer direct = message instanceof HasByteBuffer some && some.byteBufferSupported() ? some : null;
        ByteBuffer first = direct == null ? null : direct.getByteBuffer();
        if (first != null && first.remaining() == length) {
            receiver.received(stream, first.asReadOnlyBuffer());
            return;
        }
        List<ByteBuffer> pieces = direct != null && mayBeInPieces(message, stream, first, length)
                ? pieces(message, direct, length)
                : List.of();
        if (pieces.isEmpty()) {
            receiver.received(
                    stream, ByteBuffer.wrap(message.readNBytes(length)).asReadOnlyBuffer());
        } else {
            receiver.received(
                    stream, pieces.getFirst(), pieces.subList(1, pieces.size()).toArray(ByteBuffer[]::new));
        }
    }

    private static boolean mayBeInPieces(
            InputStream message, PeerStream stream, @Nullable ByteBuffer first, int length) {
        return stream == PeerStream.BULK
                && length > PeerListener.PIECES_FROM
                && first != null
                && first.remaining() >= PeerListener.FIRST_PIECE
                && message.markSupported();
    }

    /** Returns the pieces of a message, valid until the message is closed; none for so many that a copy takes less. */
    private static List<ByteBuffer> pieces(InputStream message, HasByteBuffer direct, int length) throws IOException {
        message.mark(length); // keeps pieces that are behind
        List<ByteBuffer> pieces = new ArrayList<>();
        for (int left = length; left > 0; ) {
            ByteBuffer next = direct.getByteBuffer();
            if (next == null || !next.hasRemaining()) {
                throw new IOException("a message of %d bytes ended %d bytes before".formatted(length, left));
            }
            if (pieces.size() == PIECES_LIMIT) {
                message.reset();
                return List.of();
            }
            pieces.add(next.asReadOnlyBuffer());
            left -= next.remaining();
            message.skipNBytes(next.remaining());
        }
        return pieces;
    }
}

package io.github.iree4j.spring.serving;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** A connection of HTTP/2 whose calls begin and do not end; it reads frames only when asked to. */
final class HalfCalls implements AutoCloseable {

    private static final int DATA = 0;
    private static final int HEADERS = 1;
    private static final int RST_STREAM = 3;
    private static final int SETTINGS = 4;
    private static final int END_STREAM = 1;
    private static final int ACK = 1;
    private static final int END_HEADERS = 4;

    private final Socket socket;
    private final DataOutputStream out;
    private final DataInputStream in;
    private int next = 1;

    HalfCalls(int port) throws IOException {
        socket = new Socket("localhost", port);
        out = new DataOutputStream(socket.getOutputStream());
        in = new DataInputStream(socket.getInputStream());
        out.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        frame(SETTINGS, 0, 0, new byte[0]);
    }

    private void frame(int type, int flags, int stream, byte[] payload) throws IOException {
        out.writeByte(payload.length >> 16);
        out.writeShort(payload.length);
        out.writeByte(type);
        out.writeByte(flags);
        out.writeInt(stream);
        out.write(payload);
        out.flush();
    }

    /** Begins a call, without a message. */
    int begin(String method) throws IOException {
        ByteArrayOutputStream headers = new ByteArrayOutputStream();
        header(headers, ":method", "POST");
        header(headers, ":scheme", "http");
        header(headers, ":path", "/inference.GRPCInferenceService/" + method);
        header(headers, ":authority", "localhost");
        header(headers, "te", "trailers");
        header(headers, "content-type", "application/grpc");
        int stream = next;
        next += 2;
        frame(HEADERS, END_HEADERS, stream, headers.toByteArray());
        return stream;
    }

    /** A literal without indexing (RFC 7541, 6.2.2). */
    private static void header(ByteArrayOutputStream to, String name, String value) {
        to.write(0);
        to.write(name.length());
        to.writeBytes(name.getBytes(StandardCharsets.US_ASCII));
        to.write(value.length());
        to.writeBytes(value.getBytes(StandardCharsets.US_ASCII));
    }

    /** Announces a message of some length, and sends its beginning. */
    void send(int stream, int length, byte[] beginning) throws IOException {
        ByteArrayOutputStream message = new ByteArrayOutputStream();
        DataOutputStream prefix = new DataOutputStream(message);
        prefix.writeByte(0);
        prefix.writeInt(length);
        prefix.write(beginning);
        frame(DATA, 0, stream, message.toByteArray());
    }

    /** Waits until the server ends a call. */
    void awaitEnd(int stream) throws IOException {
        while (awaitAnyEnd() != stream) {
            // another one
        }
    }

    /** Waits until the server ends any call, and returns which. */
    int awaitAnyEnd() throws IOException {
        while (true) {
            int length = in.readUnsignedByte() << 16 | in.readUnsignedShort();
            int type = in.readUnsignedByte();
            int flags = in.readUnsignedByte();
            int ended = in.readInt();
            in.skipNBytes(length);
            if (type == SETTINGS && (flags & ACK) == 0) {
                frame(SETTINGS, ACK, 0, new byte[0]);
            }
            if (type == RST_STREAM || type == HEADERS && (flags & END_STREAM) != 0) {
                return ended;
            }
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}

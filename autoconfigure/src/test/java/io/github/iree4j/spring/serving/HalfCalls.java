package io.github.iree4j.spring.serving;

import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A connection of HTTP/2 with begun and unended calls; frames are read only on request. */
final class HalfCalls implements AutoCloseable {

    private static final int DATA = 0;
    private static final int HEADERS = 1;
    private static final int RST_STREAM = 3;
    private static final int SETTINGS = 4;
    private static final int END_STREAM = 1;
    private static final int ACK = 1;
    private static final int END_HEADERS = 4;
    private static final int INITIAL_WINDOW_SIZE = 4;
    private static final int MAX_CONCURRENT_STREAMS = 3;
    private static final byte CANCEL = 8;
    private static final int AUTHORITY = 1;
    private static final int METHOD = 2;
    private static final int PATH = 4;
    private static final int SCHEME = 6;
    private static final String GRPC = "application/grpc";
    private static final int MAX_FRAME = 1 << 14;
    private static final int QUIET_MILLIS = 3_000;

    private final Socket socket;
    private final DataOutputStream out;
    private final DataInputStream in;
    private int next = 1;

    HalfCalls(int port) throws IOException {
        this(port, new byte[0]);
    }

    /** A connection with a client that never lets the server send a byte of an answer. */
    static HalfCalls withoutWindow(int port) throws IOException {
        return new HalfCalls(port, new byte[] {0, INITIAL_WINDOW_SIZE, 0, 0, 0, 0});
    }

    private HalfCalls(int port, byte[] settings) throws IOException {
        socket = new Socket("localhost", port);
        out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
        in = new DataInputStream(socket.getInputStream());
        out.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        frame(SETTINGS, 0, 0, settings);
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
        int stream = next;
        next += 2;
        frame(HEADERS, END_HEADERS, stream, headers(method));
        return stream;
    }

    /** Begins so many calls, reading nothing, and then reads; returns whether the server closes the connection. */
    boolean flood(String method, int calls) throws IOException {
        byte[] headers = headers(method);
        try {
            for (int i = 0; i < calls; i++) {
                frame(HEADERS, END_HEADERS, next, headers);
                next += 2;
            }
            return isClosed();
        } catch (SocketException e) {
            return true;
        }
    }

    /** Begins and resets so many calls; returns whether the server closes the connection. */
    boolean resets(String method, int calls) throws IOException {
        byte[] headers = headers(method);
        try {
            for (int i = 0; i < calls; i++) {
                frame(HEADERS, END_HEADERS, next, headers);
                frame(RST_STREAM, 0, next, new byte[] {0, 0, 0, CANCEL});
                next += 2;
            }
            return isClosed();
        } catch (SocketException e) {
            return true;
        }
    }

    /** Reads until the server closes the connection, or says nothing for a while. */
    private boolean isClosed() throws IOException {
        socket.setSoTimeout(QUIET_MILLIS);
        try {
            in.skipNBytes(Long.MAX_VALUE);
        } catch (SocketTimeoutException e) {
            return false;
        } catch (EOFException e) {
            return true;
        }
        return false;
    }

    /** Reads the settings of the server for the number of open calls; -1 if absent. */
    int maximumOfCalls() throws IOException {
        while (true) {
            int length = in.readUnsignedByte() << 16 | in.readUnsignedShort();
            int type = in.readUnsignedByte();
            in.skipNBytes(5);
            if (type != SETTINGS) {
                in.skipNBytes(length);
                continue;
            }
            int maximum = -1;
            for (int i = 0; i < length; i += 6) {
                int setting = in.readUnsignedShort();
                int value = in.readInt();
                maximum = setting == MAX_CONCURRENT_STREAMS ? value : maximum;
            }
            return maximum;
        }
    }

    private static byte[] headers(String method) {
        return headers("/inference.GRPCInferenceService/" + method, GRPC);
    }

    private static byte[] headers(String path, String contentType) {
        ByteArrayOutputStream headers = new ByteArrayOutputStream();
        header(headers, METHOD, "POST");
        header(headers, SCHEME, "http");
        header(headers, PATH, path);
        header(headers, AUTHORITY, "localhost");
        if (contentType.equals(GRPC)) {
            header(headers, "te", "trailers");
        }
        header(headers, "content-type", contentType);
        return headers.toByteArray();
    }

    /** A literal without indexing, with an indexed name (RFC 7541, 6.2.2 and A). */
    private static void header(ByteArrayOutputStream to, int name, String value) {
        to.write(name);
        to.write(value.length());
        to.writeBytes(value.getBytes(StandardCharsets.US_ASCII));
    }

    /** A literal without indexing. */
    private static void header(ByteArrayOutputStream to, String name, String value) {
        to.write(0);
        to.write(name.length());
        to.writeBytes(name.getBytes(StandardCharsets.US_ASCII));
        to.write(value.length());
        to.writeBytes(value.getBytes(StandardCharsets.US_ASCII));
    }

    /** Sends a request of HTTP. */
    int post(String path, byte[] body) throws IOException {
        int stream = next;
        next += 2;
        frame(HEADERS, END_HEADERS, stream, headers(path, "application/json"));
        for (int from = 0; from < body.length; from += MAX_FRAME) {
            int to = Math.min(body.length, from + MAX_FRAME);
            frame(DATA, to == body.length ? END_STREAM : 0, stream, Arrays.copyOfRange(body, from, to));
        }
        return stream;
    }

    /** Makes a call with a whole message. */
    int call(String method, byte[] message) throws IOException {
        int stream = begin(method);
        send(stream, message.length, message, END_STREAM);
        return stream;
    }

    /** Announces a message of some length, and sends the beginning. */
    void send(int stream, int length, byte[] beginning) throws IOException {
        send(stream, length, beginning, 0);
    }

    private void send(int stream, int length, byte[] beginning, int flags) throws IOException {
        ByteArrayOutputStream message = new ByteArrayOutputStream();
        DataOutputStream prefix = new DataOutputStream(message);
        prefix.writeByte(0);
        prefix.writeInt(length);
        prefix.write(beginning);
        frame(DATA, flags, stream, message.toByteArray());
    }

    /** Waits until the server ends a call. */
    void awaitEnd(int stream) throws IOException {
        while (awaitAnyEnd() != stream) {
            // another call
        }
    }

    /** Waits until the server ends any call, and returns the call. */
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

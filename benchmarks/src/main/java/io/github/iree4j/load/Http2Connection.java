package io.github.iree4j.load;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;

/**
 * A connection of the loopback interface for up to {@value #STREAMS} requests at a time, over HTTP/2 without TLS and
 * without upgrade (RFC 9113): no more than the benchmarks need. Headers are sent as literals (RFC 7541), and of the
 * response's headers the first is understood. Thread-safe.
 */
final class Http2Connection implements AutoCloseable {
    static final int STREAMS = 100;

    private static final int DATA = 0;
    private static final int HEADERS = 1;
    private static final int RESET = 3;
    private static final int SETTINGS = 4;
    private static final int PING = 6;
    private static final int GO_AWAY = 7;
    private static final int WINDOW_UPDATE = 8;
    private static final int END_STREAM = 1; // of SETTINGS and PING: ACK
    private static final int END_HEADERS = 4;
    private static final int STATUS_200 = 0x88; // an entry of the static table
    private static final int WINDOW = 1 << 14; // of a fourth of the initial one: Tomcat ends connections for small ones

    private final Socket socket;
    private final DataOutputStream out; // guarded by this
    private final Map<Integer, Stream> streams = new ConcurrentHashMap<>();
    private int next = 1; // guarded by this
    private int unacknowledged; // bytes received; of the reading thread
    private volatile boolean ended; // nothing is read any more

    /** A response. */
    private static final class Stream {
        private final CompletableFuture<Boolean> answered = new CompletableFuture<>();
        private boolean good; // of the reading thread
        private boolean body; // of the reading thread
    }

    Http2Connection(int port) throws IOException {
        socket = new Socket("127.0.0.1", port);
        socket.setTcpNoDelay(true);
        out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream(), 1 << 14));
        out.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        send(SETTINGS, 0, 0, new byte[0]);
        Thread.startVirtualThread(this::read);
    }

    /** Returns the block of headers of a request by POST; other headers are names and values in turn. */
    static byte[] post(String path, String... others) {
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        block.writeBytes(new byte[] {(byte) 0x83, (byte) 0x86}); // :method POST, :scheme http
        block.write(0x04); // :path
        string(block, path);
        block.write(0x01); // :authority
        string(block, "localhost");
        for (int i = 0; i < others.length; i += 2) {
            block.write(0);
            string(block, others[i]);
            string(block, others[i + 1]);
        }
        return block.toByteArray();
    }

    private static void string(ByteArrayOutputStream block, String text) {
        assert text.length() < 127 : text;
        block.write(text.length());
        block.writeBytes(text.getBytes(StandardCharsets.US_ASCII));
    }

    /** Returns whether a request is answered with status 200 and a body. */
    boolean exchange(byte[] headers, byte[] body) throws IOException {
        Stream stream = new Stream();
        int id;
        synchronized (this) {
            id = next;
            next += 2;
            streams.put(id, stream);
            frame(HEADERS, END_HEADERS, id, headers);
            send(DATA, END_STREAM, id, body);
        }
        try {
            if (ended) {
                throw new IOException("the connection has ended");
            }
            return stream.answered.get();
        } catch (ExecutionException e) {
            throw new IOException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            streams.remove(id);
        }
    }

    boolean isOpen() {
        return !ended;
    }

    private synchronized void send(int type, int flags, int stream, byte[] payload) throws IOException {
        frame(type, flags, stream, payload);
        out.flush();
    }

    private synchronized void frame(int type, int flags, int stream, byte[] payload) throws IOException {
        out.writeInt(payload.length << 8 | type);
        out.writeByte(flags);
        out.writeInt(stream);
        out.write(payload);
    }

    private void read() {
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream(), 1 << 14))) {
            while (true) {
                int head = in.readInt();
                int flags = in.readUnsignedByte();
                int id = in.readInt();
                byte[] payload = in.readNBytes(head >>> 8);
                if (payload.length < head >>> 8) {
                    throw new EOFException();
                }
                received(head & 0xFF, flags, id, payload);
            }
        } catch (IOException e) {
            ended = true;
            streams.values().forEach(each -> each.answered.completeExceptionally(e));
        }
    }

    private void received(int type, int flags, int id, byte[] payload) throws IOException {
        Stream stream = streams.get(id);
        switch (type) {
            case SETTINGS, PING -> {
                if ((flags & END_STREAM) == 0) {
                    send(type, END_STREAM, 0, type == PING ? payload : new byte[0]);
                }
            }
            case GO_AWAY -> throw new IOException("the server closes the connection");
            case RESET -> {
                if (stream != null) {
                    stream.answered.completeExceptionally(new IOException("the server ended the request"));
                }
            }
            case HEADERS, DATA -> {
                unacknowledged += type == DATA ? payload.length : 0;
                if (unacknowledged >= WINDOW) {
                    byte[] size = {0, (byte) (unacknowledged >> 16), (byte) (unacknowledged >> 8), (byte) unacknowledged
                    };
                    send(WINDOW_UPDATE, 0, 0, size);
                    unacknowledged = 0;
                }
                if (stream != null) {
                    stream.good |= type == HEADERS && first(payload) == STATUS_200;
                    stream.body |= type == DATA && payload.length > 0;
                    if ((flags & END_STREAM) != 0) {
                        stream.answered.complete(stream.good && stream.body);
                    }
                }
            }
            default -> {}
        }
    }

    /** Returns the byte of the first header, after updates of the size of the table. */
    private static int first(byte[] block) {
        int at = 0;
        while ((block[at] & 0xE0) == 0x20) {
            boolean isLong = (block[at++] & 0x1F) == 0x1F;
            while (isLong && block[at++] < 0) {}
        }
        return block[at] & 0xFF;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}

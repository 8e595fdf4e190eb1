package io.github.iree4j.cluster.membership;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.ProtocolException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/**
 * The port of the membership. JGroups reads the greeting of each connection, and with TLS the handshake, on the single
 * accepting thread: a stranger sending a byte now and then would keep the nodes out. So this class accepts each
 * connection on a separate thread, and passes on connections that greeted in time. At most {@link #MOST_STRANGERS}
 * other connections are kept, and the reasons for their ends are logged. Thread-safe.
 */
final class ScreenedServerSocket extends ServerSocket {
    /** Limit on connections without a greeting: more than the number of nodes, since all nodes may connect at once. */
    static final int MOST_STRANGERS = 512;

    private static final byte[] COOKIE = "bela".getBytes(StandardCharsets.US_ASCII);
    private static final int HEAD = COOKIE.length + 2 * Short.BYTES; // and the version, and the length of an address
    private static final int MOST_ADDRESS_BYTES = 64;
    private static final int TLS_HANDSHAKE = 22; // the first byte of TLS
    private static final long PAUSE_NANOS = 100_000_000;

    private final @Nullable SSLContext ssl;
    private final Duration limit;
    private final ConnectionLog log;
    private final AtomicBoolean begun = new AtomicBoolean();
    private final BlockingQueue<Socket> accepted = new LinkedBlockingQueue<>();
    private final Socket end = new Socket(); // the last connection
    private final Set<Socket> strangers = new LinkedHashSet<>(); // oldest first; guarded by itself

    /**
     * Creates a port, not bound yet.
     *
     * @param ssl the keys and trusted authorities of mutual TLS; null for plain text
     * @param limit how long a connection may take for the greeting
     */
    ScreenedServerSocket(@Nullable SSLContext ssl, Duration limit, ConnectionLog log) throws IOException {
        this.ssl = ssl;
        this.limit = limit;
        this.log = log;
    }

    /** Waits for a connection with a completed greeting. */
    @Override
    public Socket accept() throws IOException {
        if (begun.compareAndSet(false, true)) {
            Thread.ofVirtual().name("membership-port").start(this::meetAll);
        }
        try {
            Socket connection = accepted.take();
            if (!connection.equals(end)) {
                return connection;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        accepted.add(end);
        throw new SocketException("port %d is closed".formatted(getLocalPort()));
    }

    @Override
    public void close() throws IOException {
        super.close();
        accepted.add(end);
        List<Socket> all;
        synchronized (strangers) {
            all = new ArrayList<>(strangers);
            strangers.clear();
        }
        accepted.drainTo(all);
        accepted.add(end);
        all.forEach(BoundedSockets::end);
    }

    private void meetAll() {
        while (!isClosed()) {
            try {
                arrived(super.accept());
            } catch (IOException e) { // closed, or there are too many files
                if (!isClosed()) {
                    log.tell("port " + getLocalPort(), e.toString());
                    LockSupport.parkNanos(PAUSE_NANOS);
                }
            }
        }
    }

    private void arrived(Socket stranger) {
        Socket oldest = null;
        synchronized (strangers) {
            strangers.add(stranger);
            if (strangers.size() > MOST_STRANGERS) {
                oldest = strangers.iterator().next();
                strangers.remove(oldest);
            }
        }
        if (oldest != null) {
            log.tell(
                    oldest.getRemoteSocketAddress(),
                    MOST_STRANGERS + " younger connections have not greeted either, the limit");
            BoundedSockets.end(oldest);
        }
        if (isClosed()) {
            BoundedSockets.end(stranger);
        }
        Thread.startVirtualThread(() -> meet(stranger));
    }

    private void meet(Socket stranger) {
        CompletableFuture<Void> met = BoundedSockets.bound(stranger, limit);
        Socket connection = null;
        String why;
        try {
            connection = greeted(ssl == null ? stranger : secured(ssl, stranger));
            why = null;
        } catch (IOException | RuntimeException e) { // from bytes read by TLS
            why = Reasons.of(e);
        }
        if (!met.complete(null)) {
            why = "no greeting within %d ms".formatted(limit.toMillis());
            connection = null;
        }
        boolean known;
        synchronized (strangers) {
            known = strangers.remove(stranger); // else the connection was closed
        }
        if (known && connection != null) {
            accepted.add(connection);
            return;
        }
        BoundedSockets.end(stranger);
        if (known && why != null) {
            log.tell(stranger.getRemoteSocketAddress(), why);
        }
    }

    private static Socket secured(SSLContext ssl, Socket stranger) throws IOException {
        SSLSocket secured = (SSLSocket) ssl.getSocketFactory().createSocket(stranger, null, true); // as the server
        secured.setNeedClientAuth(true);
        secured.startHandshake();
        secured.setSoLinger(true, 0); // closing does not wait for the peer
        return secured;
    }

    private static Socket greeted(Socket stranger) throws IOException {
        InputStream in = stranger.getInputStream();
        ByteBuffer head = ByteBuffer.wrap(exactly(in, HEAD));
        if (head.get(0) == TLS_HANDSHAKE) {
            throw new ProtocolException("it speaks TLS, which this node does not");
        }
        int length = head.getShort(HEAD - Short.BYTES);
        if (head.slice(0, COOKIE.length).mismatch(ByteBuffer.wrap(COOKIE)) >= 0
                || length < 1
                || length > MOST_ADDRESS_BYTES) {
            throw new ProtocolException("it does not greet as a node");
        }
        byte[] address = exactly(in, length);
        return new PrereadSocket(
                stranger,
                ByteBuffer.allocate(HEAD + length).put(head).put(address).array());
    }

    private static byte[] exactly(InputStream in, int count) throws IOException {
        byte[] bytes = in.readNBytes(count);
        if (bytes.length < count) {
            throw new EOFException();
        }
        return bytes;
    }
}

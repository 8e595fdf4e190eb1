package io.github.iree4j.cluster.membership;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/**
 * A connection from this node to the membership of another node. The connection is established in time or not at all,
 * including the TLS handshake, and reports the outcome: JGroups reports nothing about connections not established.
 */
final class Caller extends WrappedSocket {
    private static final int TLS_ALERT = 21; // the first byte of the answer of a node with TLS to a node without TLS

    private final @Nullable SSLContext ssl;
    private final Duration limit;
    private final Contacts contacts;
    private final AtomicReference<@Nullable InetSocketAddress> waiting =
            new AtomicReference<>(); // the address of the connection, while silent

    /**
     * Creates a connection, not established yet.
     *
     * @param ssl the keys and trusted authorities of mutual TLS; null for plain text
     * @param limit how long the handshake may take
     * @param contacts receives the outcome
     */
    Caller(@Nullable SSLContext ssl, Duration limit, Contacts contacts) {
        super(new Socket());
        this.ssl = ssl;
        this.limit = limit;
        this.contacts = contacts;
    }

    @Override
    public void connect(SocketAddress address) throws IOException {
        connect(address, 0);
    }

    @Override
    public void connect(SocketAddress address, int millis) throws IOException {
        InetSocketAddress to = (InetSocketAddress) address;
        try {
            socket().connect(to, millis);
        } catch (IOException e) {
            contacts.absent(to, String.valueOf(e.getMessage()));
            throw e;
        }
        SSLContext with = ssl;
        if (with != null) {
            secure(with, to);
        }
        contacts.connected(to);
        waiting.set(to);
    }

    @Override
    public void close() throws IOException {
        super.close();
        InetSocketAddress from = waiting.getAndSet(null);
        if (from != null) {
            contacts.ended(from);
        }
    }

    private void secure(SSLContext with, InetSocketAddress to) throws IOException {
        Socket plain = socket();
        CompletableFuture<Void> made = BoundedSockets.bound(plain, limit);
        try {
            SSLSocket secured = (SSLSocket)
                    with.getSocketFactory().createSocket(plain, to.getAddress().getHostAddress(), to.getPort(), true);
            secured.setSoLinger(true, 0); // closing does not wait for the peer
            become(secured);
            secured.startHandshake();
            if (made.complete(null)) {
                return;
            }
            throw new SocketException("closed, for want of time");
        } catch (IOException | RuntimeException e) { // from bytes read by TLS
            String why = Reasons.of(e);
            if (!made.complete(null)) {
                contacts.absent(to, "no answer to TLS within %d ms".formatted(limit.toMillis()));
            } else if (why == null || e instanceof SocketException) {
                contacts.cutShort(
                        to,
                        "it ended the connection in place of a TLS handshake: is 'iree.cluster.ssl.bundle' set there?");
            } else {
                contacts.refused(to, why);
            }
            throw new SocketException("no TLS with " + to, e);
        }
    }

    @Override
    public InputStream getInputStream() throws IOException {
        return new FirstWord(super.getInputStream());
    }

    /** The bytes from the other node. */
    private final class FirstWord extends FilterInputStream {
        FirstWord(InputStream in) {
            super(in);
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
        }

        @Override
        public int read(byte[] to, int offset, int length) throws IOException {
            int count;
            try {
                count = in.read(to, offset, length);
            } catch (IOException e) {
                InetSocketAddress from = waiting.getAndSet(null);
                if (from != null) {
                    contacts.ended(from);
                    if (Reasons.isAlert(e)) {
                        contacts.refused(from, String.valueOf(Reasons.of(e)));
                        throw new SocketException("refused by " + from, e); // JGroups logs others
                    }
                }
                throw e;
            }
            InetSocketAddress from = length == 0 ? null : waiting.getAndSet(null);
            if (from != null && count < 0) {
                contacts.ended(from);
            } else if (from != null && ssl == null && to[offset] == TLS_ALERT) {
                contacts.ended(from);
                contacts.refused(from, "it speaks TLS, which this node does not");
                throw new SocketException(from + " speaks TLS");
            } else if (from != null) {
                contacts.reached(from);
            }
            return count;
        }
    }
}

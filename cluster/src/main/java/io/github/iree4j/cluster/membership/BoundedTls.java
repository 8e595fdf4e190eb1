package io.github.iree4j.cluster.membership;

import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.jgroups.util.DefaultSocketFactory;
import org.jgroups.util.SocketFactory;
import org.jgroups.util.TLS;
import org.jgroups.util.TLSClientAuth;

/**
 * Mutual TLS whose connections are made in time or closed. JGroups bounds how long it connects, and not the handshake that follows: a paused
 * process accepts the connection and never answers. Meanwhile JGroups would send nothing to the other nodes, which then suspect this one.
 */
final class BoundedTls extends TLS {
    private final Duration limit;

    /**
     * Creates it.
     *
     * @param limit how long connecting may take, with the handshake
     */
    BoundedTls(SSLContext context, Duration limit) {
        this.limit = limit;
        enabled(true);
        setSSLContext(context);
        setClientAuth(TLSClientAuth.NEED);
    }

    @Override
    public SocketFactory createSocketFactory(SSLContext context) {
        DefaultSocketFactory factory = (DefaultSocketFactory) super.createSocketFactory(context);
        factory.setSocketConfigurator(this::bound);
        return factory;
    }

    private void bound(Socket socket) {
        CompletableFuture<Void> made = new CompletableFuture<>();
        ((SSLSocket) socket).addHandshakeCompletedListener(_ -> made.complete(null));
        made.orTimeout(limit.toMillis(), TimeUnit.MILLISECONDS)
                .exceptionallyAsync(_ -> close(socket), Thread::startVirtualThread); // closing may wait for the peer
    }

    private static Void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // It is closed all the same.
        }
        return null;
    }
}

package io.github.iree4j.cluster.membership;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import org.jgroups.util.DefaultSocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * Creates the sockets of the membership; connections are established in time or closed. JGroups bounds the time of
 * connecting, but not of the following TLS handshake: a paused process accepts the connection and never answers.
 * Meanwhile JGroups would send nothing to the other nodes, and the other nodes would suspect this node. Nor does
 * JGroups bound the wait for connections from other nodes.
 */
final class BoundedSockets extends DefaultSocketFactory {
    private final @Nullable SSLContext ssl;
    private final Duration limit;
    private final ConnectionLog log;
    private final Contacts contacts;

    /**
     * Creates the factory.
     *
     * @param ssl the keys and trusted authorities of mutual TLS; null for plain text
     * @param limit how long connecting may take, with the handshake
     * @param log receives failed connections from other nodes
     * @param contacts receives the outcome of connections to other nodes
     */
    BoundedSockets(@Nullable SSLContext ssl, Duration limit, ConnectionLog log, Contacts contacts) {
        this.ssl = ssl;
        this.limit = limit;
        this.log = log;
        this.contacts = contacts;
    }

    @Override
    public Socket createSocket(String service) {
        return new Caller(ssl, limit, contacts);
    }

    @Override
    public ServerSocket createServerSocket(String service) throws IOException {
        return new ScreenedServerSocket(ssl, limit, log);
    }

    /** Closes a socket unless the returned future is completed in time. */
    static CompletableFuture<Void> bound(Socket socket, Duration limit) {
        CompletableFuture<Void> made = new CompletableFuture<>();
        made.orTimeout(limit.toMillis(), TimeUnit.MILLISECONDS)
                .exceptionallyAsync(_ -> end(socket), Thread::startVirtualThread); // closing may wait for the peer
        return made;
    }

    static @Nullable Void end(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // The socket is closed nevertheless.
        }
        return null;
    }
}

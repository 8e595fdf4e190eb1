package io.github.iree4j.cluster.transport;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;

/**
 * How a {@link GrpcTransport} listens and connects.
 *
 * @param address where to listen
 * @param port the port; 0 for any that is free
 * @param tls keys and authorities of mutual TLS; null for plain text
 * @param insecure whether plain text is allowed on addresses that other machines reach
 * @param maximumFrameBytes the longest frame that is accepted
 * @param queueWindow bytes of small frames that may wait to be written
 * @param bulkWindow bytes of large frames that may wait to be written
 * @param separateBulkConnection whether large frames have a connection of their own, so that they delay small ones less
 * @param connectTimeout how long establishing a connection may take
 * @param keepAlive how long a connection may be silent before the peer is asked for a sign of life; gRPC raises it to 10 s
 * @param keepAliveTimeout how long the peer has to answer
 */
public record TransportOptions(
        InetAddress address,
        int port,
        @Nullable Tls tls,
        boolean insecure,
        int maximumFrameBytes,
        int queueWindow,
        int bulkWindow,
        boolean separateBulkConnection,
        Duration connectTimeout,
        Duration keepAlive,
        Duration keepAliveTimeout) {

    /**
     * What a node shows to its peers, and whom it trusts.
     *
     * @param keys give the node's certificate, which names the host that it advertises
     * @param authorities decide which certificates of peers are genuine
     */
    public record Tls(List<KeyManager> keys, List<TrustManager> authorities) {
        /** Copies the lists. */
        public Tls {
            keys = List.copyOf(keys);
            authorities = List.copyOf(authorities);
        }
    }

    /**
     * Checks that what other machines reach is encrypted.
     *
     * @throws IreeException FAILED_PRECONDITION when it is not, and that is not allowed
     */
    public TransportOptions {
        if (tls == null && !insecure && !address.isLoopbackAddress()) {
            throw new IreeException(
                    StatusCode.FAILED_PRECONDITION,
                    "other machines reach '%s', and without TLS any of them could run programs here; name an SSL bundle in 'iree.cluster.ssl.bundle'"
                                    .formatted(address.getHostAddress())
                            + ", or set 'iree.cluster.insecure=true' where the network is closed to others");
        }
    }

    /**
     * Returns options with the usual sizes and times.
     *
     * @param address where to listen
     * @param port the port; 0 for any that is free
     * @return plain text on loopback
     */
    public static TransportOptions of(InetAddress address, int port) {
        return new TransportOptions(
                address,
                port,
                null,
                false,
                (1 << 20) + (64 << 10),
                256 << 10,
                1 << 20,
                false,
                Duration.ofSeconds(5),
                Duration.ofSeconds(10),
                Duration.ofSeconds(3));
    }

    /**
     * Returns these options with TLS.
     *
     * @param keysAndAuthorities the keys and authorities
     * @return a copy
     */
    public TransportOptions withTls(Tls keysAndAuthorities) {
        return new TransportOptions(
                address,
                port,
                keysAndAuthorities,
                insecure,
                maximumFrameBytes,
                queueWindow,
                bulkWindow,
                separateBulkConnection,
                connectTimeout,
                keepAlive,
                keepAliveTimeout);
    }
}

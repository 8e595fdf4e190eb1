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
 * Options of a {@link GrpcTransport} for listening and connecting.
 *
 * @param address the address to listen on
 * @param port the port; 0 for any free port
 * @param tls keys and authorities of mutual TLS; null for plain text
 * @param insecure whether plain text is allowed on addresses reachable by other machines
 * @param maximumFrameBytes the longest accepted frame
 * @param queueWindow bytes of small frames allowed to wait for writing
 * @param bulkWindow bytes of large frames allowed to wait for writing
 * @param separateBulkConnection whether large frames have a separate connection, to delay small frames less
 * @param connectTimeout how long establishing a connection may take
 * @param keepAlive how long a connection may be silent before a sign of life is requested from the peer; gRPC raises
 *     the value to 10 s
 * @param keepAliveTimeout how long the peer has to answer
 * @param resumeTimeout how long an interrupted connection may take to continue; zero ends connections with their first
 *     interruption
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
        Duration keepAliveTimeout,
        Duration resumeTimeout) {

    /**
     * The certificate of a node, and the trusted authorities.
     *
     * @param keys provide the node's certificate, naming the advertised host
     * @param authorities verify the certificates of peers
     */
    public record Tls(List<KeyManager> keys, List<TrustManager> authorities) {
        /** Copies the lists. */
        public Tls {
            keys = List.copyOf(keys);
            authorities = List.copyOf(authorities);
        }
    }

    /**
     * Checks that connections reachable by other machines are encrypted.
     *
     * @throws IreeException FAILED_PRECONDITION for plain text where plain text is not allowed
     */
    public TransportOptions {
        if (tls == null && !insecure && !address.isLoopbackAddress()) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    "other machines reach '%s', and without TLS any of them could run programs here; name an SSL bundle in 'iree.cluster.ssl.bundle'"
                                    .formatted(address.getHostAddress())
                            + ", or set 'iree.cluster.insecure=true' where the network is closed to others");
        }
    }

    /**
     * Returns options with the usual sizes and times.
     *
     * @param address the address to listen on
     * @param port the port; 0 for any free port
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
                Duration.ofSeconds(3),
                Duration.ofSeconds(30));
    }

    /**
     * Returns these options with another limit of interruptions.
     *
     * @param time how long an interrupted connection may take to continue
     * @return a copy
     */
    public TransportOptions withResumeTimeout(Duration time) {
        return copy(tls, time);
    }

    /**
     * Returns these options with TLS.
     *
     * @param keysAndAuthorities the keys and authorities
     * @return a copy
     */
    public TransportOptions withTls(Tls keysAndAuthorities) {
        return copy(keysAndAuthorities, resumeTimeout);
    }

    private TransportOptions copy(@Nullable Tls keysAndAuthorities, Duration resumption) {
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
                keepAliveTimeout,
                resumption);
    }
}

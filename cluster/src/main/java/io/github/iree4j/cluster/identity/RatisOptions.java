package io.github.iree4j.cluster.identity;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;

/**
 * The nodes counting sessions together, and this node's position.
 *
 * @param cluster the cluster's name
 * @param peers host and port of each node, the same list in the same order on all nodes; the position is the machine
 *     index
 * @param self the position of this node
 * @param directory the directory of this node's log; outlives the process, and is used by no other node
 * @param tls keys and authorities; null for plain text
 * @param insecure whether plain text is allowed where other machines reach this machine
 * @param patience how long to wait for a majority of the nodes, to lease; renewals wait for a fifteenth of this time
 */
public record RatisOptions(
        String cluster,
        List<InetSocketAddress> peers,
        int self,
        Path directory,
        @Nullable Tls tls,
        boolean insecure,
        Duration patience) {

    /**
     * The certificate of a node, and the trusted authorities.
     *
     * @param key provides the node's certificate, naming the node's host in the list
     * @param authorities verifies the certificates of other nodes
     */
    public record Tls(KeyManager key, TrustManager authorities) {}

    /**
     * Checks for a majority after the loss of a node, and for encryption of connections reachable by other machines.
     *
     * @throws IreeException INVALID_ARGUMENT when there are fewer than three peers or more than 256, or the position is
     *     not in the list; FAILED_PRECONDITION when plain text would be reachable by other machines and is not allowed
     */
    public RatisOptions {
        peers = List.copyOf(peers);
        if (peers.size() < 3
                || peers.size() > Axis.MAXIMUM_MACHINE + 1
                || peers.stream().distinct().count() < peers.size()) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "%s are not 3 to %d different nodes; with two, neither can go on without the other"
                            .formatted(peers, Axis.MAXIMUM_MACHINE + 1));
        }
        if (self < 0 || self >= peers.size()) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT, "%d is not the place of a node in %s".formatted(self, peers));
        }
        InetSocketAddress own = peers.get(self);
        if (tls == null && !insecure && (own.isUnresolved() || !own.getAddress().isLoopbackAddress())) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    "other machines reach '%s', and without TLS any of them could take identities; name an SSL bundle in 'iree.cluster.ssl.bundle', or set 'iree.cluster.insecure=true' where the network is closed to others"
                            .formatted(own));
        }
    }
}

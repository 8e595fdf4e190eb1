package io.github.iree4j.cluster.membership;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * How {@link JGroupsMembership} finds and watches the other nodes.
 *
 * @param cluster the cluster's name; groups of different names do not meet
 * @param address where to listen; null for a group within one JVM, which needs no network
 * @param port the port of the membership, and the next one that of failure detection
 * @param discovery where to find the other nodes
 * @param timeout how long a node may be silent before it is suspected
 * @param interval the time between two signs of life
 * @param verify how long a suspected node has to answer
 * @param ssl the keys and trusted authorities of mutual TLS; null for plain text
 */
public record GroupOptions(
        String cluster,
        @Nullable InetAddress address,
        int port,
        Discovery discovery,
        Duration timeout,
        Duration interval,
        Duration verify,
        @Nullable SSLContext ssl) {

    /** Where to find the other nodes. */
    public sealed interface Discovery {

        /**
         * A list of addresses. Nodes that are not in it can join too, if they know one that is.
         *
         * @param hosts addresses of the memberships of some or all nodes
         */
        record Static(List<InetSocketAddress> hosts) implements Discovery {
            /** Copies the list. */
            public Static {
                hosts = List.copyOf(hosts);
            }
        }

        /**
         * A name whose address records are the nodes, for example a headless service of Kubernetes. All listen on the same port.
         *
         * @param query the name
         */
        record Dns(String query) implements Discovery {}

        /** The nodes of one JVM. */
        record Jvm() implements Discovery {}
    }
}

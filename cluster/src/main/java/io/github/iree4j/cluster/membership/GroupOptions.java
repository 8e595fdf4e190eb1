package io.github.iree4j.cluster.membership;

import io.github.iree4j.api.NotForApplications;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * Options of {@link JGroupsMembership} for finding and watching the other nodes.
 *
 * @param cluster the cluster's name; groups of different names do not meet
 * @param address the address to listen on; null for a group within a single JVM, without a network
 * @param port the port of the membership
 * @param discovery where to find the other nodes
 * @param timeout how long a node may be silent before being suspected
 * @param interval the time between two signs of life
 * @param verify how long a suspected node has to answer
 * @param ssl the keys and trusted authorities of mutual TLS; null for plain text
 */
@NotForApplications
public record GroupOptions(
        String cluster,
        @Nullable InetAddress address,
        int port,
        Discovery discovery,
        Duration timeout,
        Duration interval,
        Duration verify,
        @Nullable SSLContext ssl) {

    /** The source of the other nodes' addresses. */
    public sealed interface Discovery {

        /**
         * A list of addresses. Nodes outside the list can join too, through a node in the list.
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
         * A name with the nodes as address records, for example a headless service of Kubernetes. All nodes listen on
         * the same port.
         *
         * @param query the name
         */
        record Dns(String query) implements Discovery {}

        /** The nodes of a single JVM. */
        record Jvm() implements Discovery {}
    }
}

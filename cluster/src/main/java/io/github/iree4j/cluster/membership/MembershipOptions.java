package io.github.iree4j.cluster.membership;

import io.github.iree4j.api.NotForApplications;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;

/**
 * Options of {@link HeartbeatMembership} for finding and watching the other nodes.
 *
 * @param discovery where to find the other nodes
 * @param timeout how long a node may be silent before leaving the view
 * @param interval the time between two signs of life
 */
@NotForApplications
public record MembershipOptions(Discovery discovery, Duration timeout, Duration interval) {

    /** The source of the other nodes' addresses. */
    public sealed interface Discovery {

        /**
         * A list of addresses. Nodes outside the list can join too, through a node in the list.
         *
         * @param addresses addresses of some or all nodes, not resolved
         */
        record Static(List<InetSocketAddress> addresses) implements Discovery {
            /** Copies the list. */
            public Static {
                addresses = List.copyOf(addresses);
            }
        }

        /**
         * A name with the nodes as address records, for example a headless service of Kubernetes. All nodes listen on
         * the same port.
         *
         * @param query the name
         * @param port the port
         */
        record Dns(String query, int port) implements Discovery {}
    }
}

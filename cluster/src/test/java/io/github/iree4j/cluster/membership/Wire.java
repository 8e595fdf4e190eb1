package io.github.iree4j.cluster.membership;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** Carries messages between the memberships of a test, at once, where no cut is between the nodes. */
final class Wire {
    private final Map<InetSocketAddress, Node> nodes = new ConcurrentHashMap<>();
    private final Set<Direction> cuts = ConcurrentHashMap.newKeySet();
    private final Set<Direction> blocks = ConcurrentHashMap.newKeySet();
    final AtomicLong messages = new AtomicLong();

    private record Node(ClusterMember member, ClusterMembership membership) {}

    private record Direction(InetSocketAddress from, InetSocketAddress to) {}

    static InetSocketAddress address(ClusterMember member) {
        return InetSocketAddress.createUnresolved(member.host(), member.port());
    }

    /** Adds a process at the member's address, and returns the carrier of the process. */
    ClusterMembership.Carrier add(ClusterMember member, ClusterMembership membership) {
        nodes.values().removeIf(each -> each.membership == membership);
        nodes.put(address(member), new Node(member, membership));
        return (address, message, limit, reply) -> ask(member, address, message, reply);
    }

    /** Lets another address lead to a node, as a name or a balancer does. */
    void alias(InetSocketAddress address, ClusterMember member) {
        nodes.put(address, Objects.requireNonNull(nodes.get(address(member))));
    }

    /** Ends a process, without a farewell. */
    void remove(ClusterMember member) {
        nodes.remove(address(member));
    }

    /** Cuts a direction. */
    void cut(ClusterMember from, ClusterMember to) {
        cuts.add(new Direction(address(from), address(to)));
    }

    /** Lets connections of a direction fail; answers to the other direction pass. */
    void block(ClusterMember from, ClusterMember to) {
        blocks.add(new Direction(address(from), address(to)));
    }

    void heal() {
        cuts.clear();
        blocks.clear();
    }

    void clear() {
        nodes.clear();
        heal();
    }

    private void ask(ClusterMember from, InetSocketAddress to, byte[] message, ClusterMembership.Reply reply) {
        messages.incrementAndGet();
        Node there = nodes.get(to);
        if (cuts.contains(new Direction(address(from), to))) {
            reply.failed(IreeException.of(StatusCode.DEADLINE_EXCEEDED, "cut"));
        } else if (there == null || blocks.contains(new Direction(address(from), to))) {
            reply.failed(IreeException.of(StatusCode.UNAVAILABLE, "Connection refused"));
        } else {
            answer(there, from, to, message, reply);
        }
    }

    private void answer(
            Node there, ClusterMember from, InetSocketAddress to, byte[] message, ClusterMembership.Reply reply) {
        byte[] answer;
        try {
            answer = there.membership.asked(from, message);
        } catch (IreeException e) {
            reply.failed(e);
            return;
        }
        if (cuts.contains(new Direction(to, address(from)))) {
            reply.failed(IreeException.of(StatusCode.DEADLINE_EXCEEDED, "cut on the way back"));
        } else {
            reply.answered(there.member, answer);
        }
    }

    /** A carrier of an unreachable process. */
    static final ClusterMembership.Carrier NONE = (address, message, limit, reply) -> reply.failed(IreeException.of(
            StatusCode.UNAVAILABLE,
            "no answer from %s to %d bytes within %s"
                    .formatted(address, message.length, Duration.ofNanos(limit.toNanos()))));
}

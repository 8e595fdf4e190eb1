package io.github.iree4j.cluster.membership;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The membership of nodes in one JVM. Views are reported before {@link #join} and {@link #leave()} return, by the calling thread. */
public final class MemoryMembership implements ClusterMembership {

    /** What the nodes of one cluster share. Can be partitioned. */
    public static final class Network {
        private final List<List<MemoryMembership>> groups = new ArrayList<>(); // guarded by this, like the rest
        private long views;

        /** Creates a network without nodes. */
        public Network() {}

        /**
         * Separates some nodes from the others, which both sides learn.
         *
         * @param away the nodes to separate
         */
        public synchronized void cut(List<MemoryMembership> away) {
            List<List<MemoryMembership>> parts = new ArrayList<>();
            for (List<MemoryMembership> group : groups) {
                List<MemoryMembership> there = new ArrayList<>(group);
                there.retainAll(away);
                List<MemoryMembership> here = new ArrayList<>(group);
                here.removeAll(away);
                parts.add(there);
                parts.add(here);
            }
            groups.clear();
            for (List<MemoryMembership> part : parts) {
                if (!part.isEmpty()) {
                    groups.add(part);
                    report(part, List.of());
                }
            }
        }

        /** Makes all nodes see each other again. */
        public synchronized void heal() {
            List<List<ClusterMember>> merged =
                    groups.stream().map(Network::members).toList();
            List<MemoryMembership> all = new ArrayList<>();
            groups.forEach(all::addAll);
            groups.clear();
            if (!all.isEmpty()) {
                groups.add(all);
                report(all, merged.size() < 2 ? List.of() : merged);
            }
        }

        private synchronized void add(MemoryMembership node) {
            if (groups.isEmpty()) {
                groups.add(new ArrayList<>());
            }
            groups.getFirst().add(node);
            report(groups.getFirst(), List.of());
        }

        private synchronized void remove(MemoryMembership node) {
            for (List<MemoryMembership> group : List.copyOf(groups)) {
                if (group.remove(node)) {
                    report(group, List.of());
                }
                if (group.isEmpty()) {
                    groups.remove(group);
                }
            }
        }

        private void report(List<MemoryMembership> group, List<List<ClusterMember>> mergedFrom) {
            ClusterView view = new ClusterView(++views, members(group), mergedFrom);
            for (MemoryMembership each : List.copyOf(group)) {
                each.report(view);
            }
        }

        private static List<ClusterMember> members(List<MemoryMembership> group) {
            return group.stream().map(MemoryMembership::self).toList();
        }
    }

    private final Network network;
    private volatile @Nullable ClusterMember self;
    private volatile @Nullable Consumer<ClusterView> views;

    /**
     * Creates the membership of one node.
     *
     * @param network shared with the other nodes
     */
    public MemoryMembership(Network network) {
        this.network = network;
    }

    @Override
    public void join(ClusterMember self, Consumer<ClusterView> views) {
        if (this.self != null) {
            throw new IreeException(StatusCode.FAILED_PRECONDITION, self + " has joined already");
        }
        this.self = self;
        this.views = views;
        network.add(this);
    }

    @Override
    public void leave() {
        views = null;
        network.remove(this);
        self = null;
    }

    private ClusterMember self() {
        ClusterMember known = self;
        if (known == null) {
            throw new IllegalStateException("a node that has left is still in its group");
        }
        return known;
    }

    private void report(ClusterView view) {
        Consumer<ClusterView> listener = views;
        if (listener != null) {
            listener.accept(view);
        }
    }
}

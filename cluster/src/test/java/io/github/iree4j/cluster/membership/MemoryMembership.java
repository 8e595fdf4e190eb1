package io.github.iree4j.cluster.membership;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The membership of nodes in a single JVM. Views are reported before {@link #join} and {@link #leave()} return, by the calling thread. */
public final class MemoryMembership implements ClusterMembership {

    /** The state shared by the nodes of a cluster. Can be partitioned. */
    public static final class Network {
        private final List<List<MemoryMembership>> groups = new ArrayList<>(); // guarded by this

        /** Creates a network without nodes. */
        public Network() {}

        /**
         * Separates some nodes from the others; both sides receive new views.
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
                    report(part);
                }
            }
        }

        /**
         * Shows a separate view to some nodes. The view may contain nodes with other views, as in networks where two
         * nodes do not reach each other and a third reaches both.
         *
         * @param nodes the nodes receiving the view
         * @param members the members of the view
         */
        public synchronized void show(List<MemoryMembership> nodes, List<MemoryMembership> members) {
            groups.forEach(each -> each.removeAll(nodes));
            groups.removeIf(List::isEmpty);
            groups.add(new ArrayList<>(nodes));
            ClusterView view = view(members);
            for (MemoryMembership each : nodes) {
                each.report(view);
            }
        }

        /** Makes all nodes see each other again. */
        public synchronized void heal() {
            List<MemoryMembership> all = new ArrayList<>();
            groups.forEach(all::addAll);
            groups.clear();
            if (!all.isEmpty()) {
                groups.add(all);
                report(all);
            }
        }

        private synchronized void add(MemoryMembership node) {
            if (groups.isEmpty()) {
                groups.add(new ArrayList<>());
            }
            groups.getFirst().add(node);
            report(groups.getFirst());
        }

        private synchronized void remove(MemoryMembership node) {
            for (List<MemoryMembership> group : List.copyOf(groups)) {
                if (group.remove(node)) {
                    report(group);
                }
                if (group.isEmpty()) {
                    groups.remove(group);
                }
            }
        }

        private synchronized void reported(MemoryMembership node) {
            for (List<MemoryMembership> group : List.copyOf(groups)) {
                if (group.contains(node)) {
                    report(group);
                }
            }
        }

        private static void report(List<MemoryMembership> group) {
            ClusterView view = view(group);
            for (MemoryMembership each : List.copyOf(group)) {
                each.report(view);
            }
        }

        private static ClusterView view(List<MemoryMembership> group) {
            Map<Long, Standing> standings = new HashMap<>();
            Map<Long, Long> joined = new HashMap<>();
            List<ClusterMember> members = new ArrayList<>();
            for (MemoryMembership each : group) {
                ClusterMember member = each.self();
                members.add(member);
                standings.put(member.identity().incarnation(), each.standing);
                joined.put(member.identity().incarnation(), each.joined);
            }
            return new ClusterView(members, standings, joined);
        }
    }

    private final Network network;
    private volatile @Nullable ClusterMember self;
    private volatile @Nullable Listener listener;
    private volatile Standing standing = Standing.PEACE;
    private volatile long joined;

    /**
     * Creates the membership of a node.
     *
     * @param network shared with the other nodes
     */
    public MemoryMembership(Network network) {
        this.network = network;
    }

    @Override
    public void join(ClusterMember self, Carrier carrier, Listener listener) {
        if (this.self != null) {
            throw IreeException.of(StatusCode.FAILED_PRECONDITION, self + " has joined already");
        }
        this.joined = System.nanoTime();
        this.self = self;
        this.listener = listener;
        network.add(this);
    }

    @Override
    public void report(Standing standing) {
        this.standing = standing;
        network.reported(this);
    }

    @Override
    public void leave() {
        listener = null;
        network.remove(this);
        self = null;
        standing = Standing.PEACE;
    }

    private ClusterMember self() {
        ClusterMember known = self;
        if (known == null) {
            throw new IllegalStateException("a node that has left is still in its group");
        }
        return known;
    }

    private void report(ClusterView view) {
        Listener told = listener;
        if (told != null) {
            told.viewChanged(view);
        }
    }
}

package io.github.iree4j.cluster.membership;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jgroups.Address;
import org.jgroups.BytesMessage;
import org.jgroups.Event;
import org.jgroups.JChannel;
import org.jgroups.MergeView;
import org.jgroups.Message;
import org.jgroups.Receiver;
import org.jgroups.View;
import org.jgroups.protocols.FD_ALL3;
import org.jgroups.protocols.FRAG2;
import org.jgroups.protocols.MERGE3;
import org.jgroups.protocols.MFC;
import org.jgroups.protocols.SHARED_LOOPBACK;
import org.jgroups.protocols.SHARED_LOOPBACK_PING;
import org.jgroups.protocols.TCP;
import org.jgroups.protocols.TP;
import org.jgroups.protocols.UFC;
import org.jgroups.protocols.UNICAST3;
import org.jgroups.protocols.VERIFY_SUSPECT2;
import org.jgroups.protocols.dns.DNS_PING;
import org.jgroups.protocols.pbcast.GMS;
import org.jgroups.protocols.pbcast.NAKACK2;
import org.jgroups.protocols.pbcast.STABLE;
import org.jgroups.stack.AddressGenerator;
import org.jgroups.stack.IpAddress;
import org.jgroups.stack.Protocol;
import org.jgroups.util.ExtendedUUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A {@link ClusterMembership} by JGroups. Only membership: a node sends nothing through the channel but reports of
 * failures, since load on the channel delays the detection of failures.
 *
 * <p>A node's {@link ClusterMember} is part of the node's address in the group, so a view shows how to reach the
 * members.
 */
@NotForApplications
public final class JGroupsMembership implements ClusterMembership {

    private static final Logger log = LoggerFactory.getLogger(JGroupsMembership.class);
    private static final String KEY = "iree";
    private static final int MOST_BYTES = 1 << 20; // of a message; JGroups splits and gathers up to 64 KB
    private static final Duration JOIN_TIMEOUT = Duration.ofSeconds(1);

    private final GroupOptions options;
    private final Contacts contacts = new Contacts(log, System::nanoTime);
    private final Object departure = new Object(); // lock held during a departure, without the lock of this
    private volatile @Nullable JChannel channel; // changed under the lock of this
    private @Nullable ClusterMember self; // guarded by this

    /**
     * Creates a membership, not joined yet.
     *
     * @param options options for finding and watching the other nodes
     */
    public JGroupsMembership(GroupOptions options) {
        this.options = options;
    }

    @Override
    public synchronized void join(ClusterMember self, Listener listener) {
        if (channel != null) {
            throw IreeException.of(StatusCode.FAILED_PRECONDITION, self + " has joined already");
        }
        JChannel joining = null;
        try {
            List<Protocol> stack = stack();
            joining = new JChannel(stack);
            stack.forEach(this::keepAddress);
            joining.setName(self.identity().toString());
            joining.addAddressGenerator(new Addresses(self));
            joining.setReceiver(new Views(self, listener));
            joining.connect(options.cluster());
            channel = joining;
            this.self = self;
        } catch (Exception e) { // as declared
            if (joining != null) {
                joining.close();
            }
            throw IreeException.of(
                    StatusCode.UNAVAILABLE,
                    "cannot join cluster '%s' from %s port %d: %s"
                            .formatted(options.cluster(), options.address(), options.port(), e),
                    e);
        }
    }

    @Override
    public void report(FailureReport report) {
        JChannel joined = channel;
        if (joined == null) {
            return;
        }
        try {
            joined.send(new BytesMessage(null, report.encode())
                    .setFlag(Message.Flag.NO_FC)
                    .setFlag(Message.TransientFlag.DONT_BLOCK));
        } catch (Exception e) { // as declared; the node leaves
            log.debug("{} cannot report: {}", joined.name(), e.toString());
        }
    }

    @Override
    public void leave() {
        synchronized (departure) { // so the ports are free when any caller returns
            JChannel leaving;
            synchronized (this) {
                leaving = channel;
                channel = null;
            }
            if (leaving != null) {
                leaving.setReceiver(null);
                leaving.close();
            }
        }
    }

    @Override
    public List<Unreached> unreached() {
        JChannel looking;
        ClusterMember from;
        synchronized (this) {
            looking = channel;
            from = self;
        }
        View view = looking == null ? null : looking.getView();
        if (looking == null || from == null || view == null) {
            return List.of();
        }
        Set<InetSocketAddress> members = new HashSet<>();
        List<Unreached> foreign = new ArrayList<>();
        for (Address each : view.getMembers()) {
            if (looking.down(new Event(Event.GET_PHYSICAL_ADDRESS, each)) instanceof IpAddress known) {
                members.add(new InetSocketAddress(known.getIpAddress(), known.getPort()));
            }
            ClusterMember member = decoded(each);
            if (member != null && !isPeer(member, from)) {
                foreign.add(new Unreached(
                        membership(member),
                        true,
                        "it leases its identity elsewhere: the id of its cluster is %016x, that of this node %016x"
                                .formatted(
                                        member.identity().clusterId(),
                                        from.identity().clusterId())));
            }
        }
        List<Unreached> unreached = new ArrayList<>(contacts.unreached(members));
        // this node, found by a name with another address
        unreached.removeIf(each -> each.address().equals(membership(from)));
        unreached.addAll(foreign);
        return unreached;
    }

    /** Host and port of the membership of a node. */
    private static String membership(ClusterMember of) {
        return of.host() + ":" + (of.port() + 1);
    }

    /** From the transport up. */
    private List<Protocol> stack() throws Exception {
        List<Protocol> stack = new ArrayList<>();
        TP transport = transport();
        transport.useVirtualThreads(false); // slower with virtual threads
        transport.disableDiagnostics();
        stack.add(transport);
        stack.add(discovery());
        stack.add(new MERGE3().setMinInterval(1000).setMaxInterval(3000));
        stack.add(new FD_ALL3()
                .setTimeout(options.timeout().toMillis())
                .setInterval(options.interval().toMillis()));
        stack.add(new VERIFY_SUSPECT2().setTimeout(options.verify().toMillis()));
        stack.add(new NAKACK2().useMcastXmit(false));
        stack.add(new UNICAST3());
        stack.add(new STABLE());
        stack.add(new GMS().setJoinTimeout(JOIN_TIMEOUT.toMillis()).printLocalAddress(false));
        stack.add(new UFC());
        stack.add(new MFC());
        stack.add(new FRAG2());
        return stack;
    }

    /**
     * Restores the configured addresses. System properties such as {@code jgroups.bind_addr}, meant for other users of
     * JGroups in this process, have replaced the addresses: JGroups would listen where other machines reach the port,
     * perhaps without TLS.
     */
    private void keepAddress(Protocol each) {
        if (each instanceof TCP tcp) {
            tcp.setBindAddress(options.address());
            tcp.setExternalAddr(null);
            tcp.setExternalPort(0);
            tcp.setClientBindAddr(null);
            tcp.setBindPort(options.port());
        }
    }

    private TP transport() {
        InetAddress address = options.address();
        if (address == null) {
            return new SHARED_LOOPBACK();
        }
        TCP tcp = new TCP();
        Duration connecting = options.timeout().dividedBy(2);
        tcp.setSockConnTimeout((int) connecting.toMillis());
        tcp.setSocketFactory(new BoundedSockets(
                options.ssl(),
                connecting,
                new ConnectionLog(log, "connection to the membership", System::nanoTime, contacts::isConfigured),
                contacts));
        tcp.setBindAddress(address);
        tcp.setBindPort(options.port());
        tcp.setPortRange(0);
        tcp.setMaxLength(MOST_BYTES);
        tcp.logDetails(false); // a single line about a failed connection, no stack trace
        tcp.setBundlerType("per-destination"); // an unresponsive node delays no messages to others
        return tcp;
    }

    private Protocol discovery() {
        return switch (options.discovery()) {
            case GroupOptions.Discovery.Static list -> new NamedHosts(list.hosts(), contacts).setPortRange(0);
            case GroupOptions.Discovery.Dns dns -> new DNS_PING().dnsQuery(dns.query());
            case GroupOptions.Discovery.Jvm _ -> new SHARED_LOOPBACK_PING();
        };
    }

    private static ClusterView view(View view, ClusterMember self) {
        List<ClusterMember> members = new ArrayList<>();
        for (Address address : view.getMembers()) {
            ClusterMember member = decoded(address);
            if (member == null) {
                log.warn("{} is in the group of {} and no node", address, self);
            } else if (!isPeer(member, self)) {
                log.warn("{} is in the group of {} and of another causal domain", member, self);
            } else {
                members.add(member);
            }
        }
        return new ClusterView(view.getViewId().getId() + 1, members, view instanceof MergeView);
    }

    private static boolean isPeer(ClusterMember member, ClusterMember self) {
        return member.identity().clusterId() == self.identity().clusterId();
    }

    /** Returns the member with an address; null for a stranger. */
    private static @Nullable ClusterMember decoded(@Nullable Address address) {
        byte[] bytes = address instanceof ExtendedUUID uuid ? uuid.get(KEY) : null;
        try {
            return bytes == null ? null : ClusterMember.decode(bytes);
        } catch (IreeException e) {
            return null;
        }
    }

    /** Addresses carrying the member. A separate class, since the interface has two methods and JGroups calls either. */
    private record Addresses(ClusterMember self) implements AddressGenerator {
        @Override
        @SuppressWarnings("deprecation") // abstract all the same
        public Address generateAddress() {
            return generateAddress(self.identity().toString());
        }

        @Override
        public Address generateAddress(String name) {
            return ExtendedUUID.randomUUID(name).put(KEY, self.encode());
        }
    }

    /** Calls the listener; JGroups installs views one at a time. */
    private record Views(ClusterMember self, Listener listener) implements Receiver {
        @Override
        public void viewAccepted(View view) {
            listener.viewChanged(JGroupsMembership.view(view, self));
        }

        @Override
        public void receive(Message message) {
            ClusterMember from = decoded(message.getSrc());
            if (from == null || !isPeer(from, self) || !(message instanceof BytesMessage bytes) || !bytes.hasArray()) {
                return;
            }
            try {
                listener.reported(
                        from,
                        FailureReport.decode(ByteBuffer.wrap(bytes.getArray(), bytes.getOffset(), bytes.getLength())));
            } catch (IreeException e) {
                log.warn("{} reports to {}: {}", from, self, e.getMessage());
            }
        }
    }
}

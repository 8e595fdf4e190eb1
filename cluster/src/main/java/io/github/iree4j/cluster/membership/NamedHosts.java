package io.github.iree4j.cluster.membership;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jgroups.Address;
import org.jgroups.PhysicalAddress;
import org.jgroups.conf.ClassConfigurator;
import org.jgroups.protocols.TCPPING;
import org.jgroups.stack.IpAddress;
import org.jgroups.util.Responses;

/**
 * Looks for other nodes at named hosts. A name is looked up each time, since the host may get an address after this
 * node's start, and another address after a restart. For a name unknown now, the last known address is used.
 */
final class NamedHosts extends TCPPING {
    /** Resolves the names of hosts. */
    interface Names {
        InetAddress address(String host) throws UnknownHostException;
    }

    private final List<InetSocketAddress> names;
    private final Contacts contacts;
    private final Names resolver;
    private final Map<InetSocketAddress, PhysicalAddress> known = new LinkedHashMap<>(); // guarded by itself

    /**
     * Creates the protocol.
     *
     * @param names hosts and ports, resolved or not
     * @param contacts receives unknown hosts
     */
    NamedHosts(List<InetSocketAddress> names, Contacts contacts) {
        this(names, contacts, InetAddress::getByName);
    }

    /** Creates the protocol with a resolver. */
    NamedHosts(List<InetSocketAddress> names, Contacts contacts, Names resolver) {
        this.names = names;
        this.contacts = contacts;
        this.resolver = resolver;
        setId(ClassConfigurator.getProtocolId(TCPPING.class));
        initial_hosts_set_programmatically = true;
    }

    @Override
    public void findMembers(List<Address> members, boolean initial, Responses responses) {
        initial_hosts = lookUp();
        super.findMembers(members, initial, responses);
    }

    /** Returns the addresses known now. */
    Collection<PhysicalAddress> lookUp() {
        for (InetSocketAddress each : names) {
            try {
                PhysicalAddress address = new IpAddress(resolver.address(each.getHostString()), each.getPort());
                synchronized (known) {
                    known.put(each, address);
                }
                contacts.known(each);
            } catch (UnknownHostException e) { // no address yet, or the last known address remains
                contacts.unknown(each);
            }
        }
        Map<InetSocketAddress, String> named = new HashMap<>();
        synchronized (known) {
            known.forEach((name, address) -> named.put(
                    new InetSocketAddress(((IpAddress) address).getIpAddress(), name.getPort()), name.getHostString()));
            contacts.configured(named);
            return new ArrayList<>(known.values());
        }
    }
}

package io.github.iree4j.cluster.membership;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The addresses found by a discovery. Thread-safe. */
final class Places {
    private final MembershipOptions.Discovery discovery;
    private volatile List<InetSocketAddress> addresses = List.of();
    private volatile @Nullable Unreached unresolved; // the name; null when resolved, and for a list

    Places(MembershipOptions.Discovery discovery) {
        this.discovery = discovery;
        if (discovery instanceof MembershipOptions.Discovery.Static list) {
            addresses = list.addresses();
        }
    }

    /** Returns whether the addresses are looked up by a name, and change. */
    boolean isNamed() {
        return discovery instanceof MembershipOptions.Discovery.Dns;
    }

    /** Finds the present addresses of the name; does nothing without a name. May block for long. */
    void resolve() {
        if (!(discovery instanceof MembershipOptions.Discovery.Dns dns)) {
            return;
        }
        try {
            addresses = Arrays.stream(InetAddress.getAllByName(dns.query()))
                    .map(each -> InetSocketAddress.createUnresolved(each.getHostAddress(), dns.port()))
                    .toList();
            unresolved = null;
        } catch (UnknownHostException e) { // the former addresses stay
            unresolved = new Unreached(dns.query(), false, "unknown host");
        }
    }

    List<InetSocketAddress> addresses() {
        return addresses;
    }

    /** Returns the name without addresses; empty for none. */
    List<Unreached> unreached() {
        Unreached name = unresolved;
        return name == null ? List.of() : List.of(name);
    }
}

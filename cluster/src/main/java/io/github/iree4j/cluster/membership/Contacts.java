package io.github.iree4j.cluster.membership;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * The addresses where this node looks for other nodes without success, with the causes. Each cause of an address is
 * logged once, until the address is reached. Thread-safe.
 */
final class Contacts {
    /*
     * JGroups dials an address every few seconds while looking there. An established connection proves little: with TLS
     * 1.3 the other side checks the certificate afterwards, and a paused process never answers. So an address is
     * reached when bytes have come from there.
     */
    private static final String UNKNOWN_HOST = "unknown host";
    private static final int MOST = 256; // addresses
    private static final int MOST_CAUSES = 8; // in the log, per address
    // of silent connections; when both sides connect at once, connections end silently
    private static final int MOST_ENDINGS = 3;
    // after this time without an attempt, an address is dropped
    private static final long FORGOTTEN_NANOS = 60_000_000_000L;
    private static final long SILENCE_NANOS = 5_000_000_000L;

    private final Logger log;
    private final LongSupplier nanoTime;
    // Guarded by this. The contact tried last comes last.
    private final Map<InetSocketAddress, Contact> contacts = new LinkedHashMap<>();
    private final Map<InetSocketAddress, String> names = new HashMap<>();

    private static final class Contact {
        final Set<String> told = new HashSet<>();
        boolean refuses;

        @Nullable
        String cause;

        int endings;
        long tried;
        int open; // silent connections
    }

    /** Nothing was tried. */
    Contacts(Logger log, LongSupplier nanoTime) {
        this.log = log;
        this.nanoTime = nanoTime;
    }

    /** Sets the configured addresses, with names because JGroups does not keep names. */
    synchronized void configured(Map<InetSocketAddress, String> configured) {
        names.clear();
        names.putAll(configured);
    }

    /** Whether a host is configured. */
    synchronized boolean isConfigured(InetAddress host) {
        return names.keySet().stream().anyMatch(each -> host.equals(each.getAddress()));
    }

    /** Records a host without a known address. */
    synchronized void unknown(InetSocketAddress host) {
        failed(host, false, UNKNOWN_HOST);
    }

    /** Records a host with a known address. */
    synchronized void known(InetSocketAddress host) {
        Contact contact = contacts.get(host);
        if (contact != null && UNKNOWN_HOST.equals(contact.cause)) {
            contacts.remove(host);
        }
    }

    /** Records an address without an answer. */
    void absent(InetSocketAddress address, String cause) {
        failed(address, false, cause);
    }

    /** Records an answering address where either side refuses the other. */
    void refused(InetSocketAddress address, String cause) {
        failed(address, true, cause);
    }

    /** Records an answering address ending the connection; an earlier refusal is more informative and is kept. */
    synchronized void cutShort(InetSocketAddress address, String cause) {
        Contact contact = contacts.get(address);
        failed(address, true, contact == null || contact.cause == null || !contact.refuses ? cause : contact.cause);
    }

    private synchronized void failed(InetSocketAddress address, boolean refuses, String cause) {
        Contact contact = tried(address);
        contact.refuses = refuses;
        contact.cause = cause.replaceAll("\\p{Cntrl}", " ");
        contact.endings = 0;
        tell(address, contact);
    }

    private void tell(InetSocketAddress address, Contact contact) {
        String text = String.valueOf(contact.cause);
        if (contact.told.size() < MOST_CAUSES && contact.told.add(text)) {
            if (contact.refuses) {
                log.warn("no connection to the membership at {}: {}", text(address), text);
            } else {
                log.info("no node at {} yet: {}", text(address), text);
            }
        }
    }

    private Contact tried(InetSocketAddress address) {
        Contact contact = contacts.remove(address);
        if (contact == null) {
            contact = new Contact();
        }
        contact.tried = nanoTime.getAsLong();
        contacts.put(address, contact);
        if (contacts.size() > MOST) {
            contacts.remove(contacts.keySet().iterator().next());
        }
        return contact;
    }

    /** Records an established connection, still silent. */
    synchronized void connected(InetSocketAddress address) {
        Contact contact = tried(address);
        contact.open++;
        if (!contact.refuses) {
            contact.cause = null; // drop an earlier "no answer"
        }
    }

    /** Records an address with bytes received from there. */
    synchronized void reached(InetSocketAddress address) {
        Contact contact = contacts.remove(address);
        if (contact != null && contact.cause != null) {
            log.info("the membership at {} is reached", text(address));
        }
    }

    /** Records the end of a silent connection. */
    synchronized void ended(InetSocketAddress address) {
        Contact contact = contacts.get(address);
        if (contact == null) {
            return;
        }
        contact.open = Math.max(0, contact.open - 1);
        if (++contact.endings >= MOST_ENDINGS && contact.cause == null) {
            contact.refuses = true;
            contact.cause = "it ends connections before it says anything";
            tell(address, contact);
        }
    }

    /** Returns the unreached addresses, still looked for, except addresses of members: members have reached this node. */
    synchronized List<Unreached> unreached(Set<InetSocketAddress> members) {
        long now = nanoTime.getAsLong();
        List<Unreached> unreached = new ArrayList<>();
        contacts.keySet().removeAll(members);
        contacts.values().removeIf(each -> each.open == 0 && now - each.tried > FORGOTTEN_NANOS);
        contacts.forEach((address, contact) -> {
            if (contact.open > 0 && now - contact.tried >= SILENCE_NANOS) {
                contact.refuses = true;
                contact.cause = "connected, and nothing comes from there: it is paused, or no node";
                tell(address, contact);
            }
            if (contact.cause != null) {
                unreached.add(new Unreached(text(address), contact.refuses, contact.cause));
            }
        });
        return unreached;
    }

    private String text(InetSocketAddress address) {
        return names.getOrDefault(address, address.getHostString()) + ":" + address.getPort();
    }
}

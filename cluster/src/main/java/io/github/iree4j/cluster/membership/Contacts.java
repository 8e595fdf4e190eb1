package io.github.iree4j.cluster.membership;

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
 * The addresses at which this node looks for others and has not reached one, and why. A line of the log tells each cause of an address once, until
 * the address is reached. Thread-safe.
 */
final class Contacts {
    /*
     * JGroups dials an address every few seconds for as long as it looks there. That the connection is made says little: with TLS 1.3 the other side
     * looks at the certificate afterwards, and one that is paused never answers. So an address is reached when something came from there.
     */
    private static final int MOST = 256; // addresses
    private static final int MOST_CAUSES = 8; // in the log, of one address
    private static final int MOST_ENDINGS = 3; // without a word, as connections end that both sides make at once
    private static final long FORGOTTEN_NANOS = 60_000_000_000L; // it is looked for no more
    private static final long SILENCE_NANOS = 5_000_000_000L;

    private final Logger log;
    private final LongSupplier nanoTime;
    // Guarded by this. The contact that was tried last is the last one.
    private final Map<InetSocketAddress, Contact> contacts = new LinkedHashMap<>();
    private final Map<InetSocketAddress, String> names = new HashMap<>();

    private static final class Contact {
        final Set<String> told = new HashSet<>();
        boolean refuses;

        @Nullable
        String cause;

        int endings;
        long tried;
        int open; // connections on which nothing has come
    }

    /** Nothing was tried. */
    Contacts(Logger log, LongSupplier nanoTime) {
        this.log = log;
        this.nanoTime = nanoTime;
    }

    /** The addresses that are configured, with their names as JGroups does not keep them. */
    synchronized void configured(Map<InetSocketAddress, String> configured) {
        names.clear();
        names.putAll(configured);
    }

    /** Nothing answers there. */
    void absent(InetSocketAddress address, String cause) {
        failed(address, false, cause);
    }

    /** Something is there, and one of the two sides refuses the other. */
    void refused(InetSocketAddress address, String cause) {
        failed(address, true, cause);
    }

    /** Something is there and ends the connection, which says less than what is known. */
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

    /** A connection is made, on which nothing has come yet. */
    synchronized void connected(InetSocketAddress address) {
        Contact contact = tried(address);
        contact.open++;
        if (!contact.refuses) {
            contact.cause = null; // that nothing answered
        }
    }

    /** Something came from there. */
    synchronized void reached(InetSocketAddress address) {
        Contact contact = contacts.remove(address);
        if (contact != null && contact.cause != null) {
            log.info("the membership at {} is reached", text(address));
        }
    }

    /** A connection has ended on which nothing had come. */
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

    /** The addresses that were not reached, and are still looked for, without those of members: they have reached this node. */
    synchronized List<Unreached> unreached(Set<InetSocketAddress> members) {
        long now = nanoTime.getAsLong();
        List<Unreached> unreached = new ArrayList<>();
        members.forEach(this::reached);
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

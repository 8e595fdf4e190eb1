package io.github.iree4j.cluster.membership;

import java.util.HashSet;
import java.util.Set;
import org.slf4j.Logger;

/** The lines of the log about one address: a line for each cause until the address is reached. Not thread-safe. */
final class ContactLog {
    private static final int MOST_CAUSES = 8;

    private final Set<String> causes = new HashSet<>();

    void failed(Logger log, String address, boolean refuses, String cause) {
        if (causes.size() < MOST_CAUSES && causes.add(cause)) {
            if (refuses) {
                log.warn("no connection to the node at {}: {}", address, cause);
            } else {
                log.info("no node at {} yet: {}", address, cause);
            }
        }
    }

    void reached(Logger log, String address) {
        if (!causes.isEmpty()) {
            causes.clear();
            log.info("the node at {} is reached", address);
        }
    }
}

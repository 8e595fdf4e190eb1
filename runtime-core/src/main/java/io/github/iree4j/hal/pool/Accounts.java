package io.github.iree4j.hal.pool;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The memory of all consumers. Guarded by the lock of the set. */
final class Accounts {
    /** Number of consumers kept without memory. */
    private static final int REMEMBERED = 64;

    private final Map<String, Long> quotas;
    private final Map<String, Account> byConsumer = new HashMap<>();
    private int limit = REMEMBERED; // limit on accounts; beyond the limit, unused accounts are dropped

    private final AdmissionGate gate;

    Accounts(Map<String, Long> quotas, AdmissionGate gate) {
        this.quotas = Map.copyOf(quotas);
        this.gate = gate;
    }

    Account of(String consumer) {
        Account account = byConsumer.get(consumer);
        return account != null ? account : open(consumer);
    }

    private Account open(String consumer) {
        if (byConsumer.size() >= limit) {
            byConsumer.values().removeIf(each -> each.users == 0);
            limit = Math.max(REMEMBERED, 2 * byConsumer.size());
        }
        Account account = new Account(consumer, quotas.getOrDefault(consumer, Long.MAX_VALUE), gate.quota(consumer));
        byConsumer.put(consumer, account);
        return account;
    }

    List<ConsumerStatistics> statistics() {
        return byConsumer.values().stream().map(Account::statistics).toList();
    }

    /** Describes the consumers holding memory, for the log. */
    String describe() {
        return byConsumer.values().stream()
                .filter(each -> each.live() > 0)
                .map(each -> "%s has %d bytes transient, %d persistent"
                        .formatted(each.name(), each.transientLive, each.persistentLive))
                .collect(Collectors.joining("; "));
    }
}

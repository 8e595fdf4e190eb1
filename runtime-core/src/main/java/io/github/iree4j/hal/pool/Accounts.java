package io.github.iree4j.hal.pool;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The memory of all consumers. Guarded by the lock of the set. */
final class Accounts {
    /** Number of consumers that are kept although they hold nothing. */
    private static final int REMEMBERED = 64;

    private final Map<String, Long> quotas;
    private final Map<String, Account> byConsumer = new HashMap<>();
    private int limit = REMEMBERED; // on accounts; beyond it, unused ones are dropped

    private final Map<String, AdmissionGate> gates; // of consumers with quotas

    Accounts(Map<String, Long> quotas, long patience, long hostPatience) {
        this.quotas = Map.copyOf(quotas);
        this.gates = quotas.entrySet().stream()
                .collect(Collectors.toUnmodifiableMap(
                        Map.Entry::getKey, each -> new AdmissionGate(each.getValue(), patience, hostPatience)));
    }

    Account of(String consumer) {
        Account account = byConsumer.get(consumer);
        return account != null ? account : open(consumer);
    }

    @Nullable
    AdmissionGate gate(String consumer) {
        return gates.get(consumer);
    }

    private Account open(String consumer) {
        if (byConsumer.size() >= limit) {
            byConsumer.values().removeIf(each -> each.users == 0);
            limit = Math.max(REMEMBERED, 2 * byConsumer.size());
        }
        Account account = new Account(consumer, quotas.getOrDefault(consumer, Long.MAX_VALUE), gates.get(consumer));
        byConsumer.put(consumer, account);
        return account;
    }

    List<ConsumerStatistics> statistics() {
        return byConsumer.values().stream().map(Account::statistics).toList();
    }

    /** Describes the limits that a request meets and what is in use, for messages. */
    String describe(Pool pool, Account account, long live, long budget, long capacity) {
        StringBuilder text = new StringBuilder("pool '%s' has %s, its largest free block %d bytes; all pools have %s"
                .formatted(
                        pool.name(),
                        inUse(pool.live(), pool.options.budget()),
                        pool.store.largestFree(),
                        inUse(live, budget)));
        if (capacity < budget) {
            text.append("; the system has at most %d bytes".formatted(capacity));
        }
        if (account.quota != Long.MAX_VALUE) {
            text.append("; the quota of '%s' is %d bytes".formatted(account.consumer, account.quota));
        }
        byConsumer.values().stream()
                .filter(each -> each.live() > 0)
                .forEach(each -> text.append("; %s has %d bytes transient, %d persistent"
                        .formatted(each.name(), each.transientLive, each.persistentLive)));
        return text.toString();
    }

    private static String inUse(long bytes, long budget) {
        return budget == Long.MAX_VALUE
                ? bytes + " bytes in use and no budget"
                : "%d of %d bytes in use".formatted(bytes, budget);
    }
}

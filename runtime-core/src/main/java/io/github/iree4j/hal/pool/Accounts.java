package io.github.iree4j.hal.pool;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Who has how much. Guarded by the lock of the set. */
final class Accounts {
    private final Map<String, Long> quotas;
    private final Map<String, Account> byConsumer = new HashMap<>();

    Accounts(Map<String, Long> quotas) {
        this.quotas = Map.copyOf(quotas);
    }

    Account of(String consumer) {
        return byConsumer.computeIfAbsent(
                consumer, name -> new Account(name, quotas.getOrDefault(name, Long.MAX_VALUE)));
    }

    List<ConsumerStatistics> statistics() {
        return byConsumer.values().stream().map(Account::statistics).toList();
    }

    /** Says what a request meets. */
    IreeException exhausted(Pool pool, ReservationRequest request, long live, long budget, String how) {
        return new IreeException(
                StatusCode.RESOURCE_EXHAUSTED,
                "allocation of %d bytes exceeds the memory limit %s"
                        .formatted(
                                request.size(), how.formatted(describe(pool, of(request.consumer()), live, budget))));
    }

    private String describe(Pool pool, Account account, long live, long budget) {
        StringBuilder text = new StringBuilder("pool '%s' has %s, its largest free block %d bytes; all pools have %s"
                .formatted(
                        pool.name(),
                        inUse(pool.live(), pool.options.budget()),
                        pool.store.largestFree(),
                        inUse(live, budget)));
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

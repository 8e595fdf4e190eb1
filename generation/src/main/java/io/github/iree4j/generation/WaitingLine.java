package io.github.iree4j.generation;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The sequences without pages. Sequences that have lost their pages come first, in the order of their first beginning.
 * Then tenants take turns: the tenant with the fewest running sequences is next, of several the tenant whose last turn,
 * or first request, is longest ago. The requests of a tenant begin in the order of submission. Not thread-safe.
 */
final class WaitingLine {
    private static final Comparator<Tenant> TURNS =
            Comparator.<Tenant>comparingInt(each -> each.running).thenComparingLong(each -> each.lastTurn);

    private final TreeSet<Sequence> preempted = new TreeSet<>(Comparator.comparingLong(Sequence::place));

    /** The tenants with sequences, waiting or running, by name. */
    private final Map<String, Tenant> tenants = new HashMap<>();

    private long places; // of sequences and turns

    private static final class Tenant {
        final TreeSet<Sequence> fresh =
                new TreeSet<>(Comparator.comparingLong(each -> each.generation().number())); // have not begun
        int running; // or preempted
        long lastTurn;

        Tenant(long turn) {
            lastTurn = turn;
        }
    }

    void add(Sequence sequence) {
        if (sequence.hasBegun()) {
            preempted.add(sequence);
        } else {
            // A new tenant joins at the end of the turns: otherwise names used once would delay the others for ever.
            tenants.computeIfAbsent(name(sequence), _ -> new Tenant(places++))
                    .fresh
                    .add(sequence);
        }
    }

    int size() {
        int size = preempted.size();
        for (Tenant each : tenants.values()) {
            size += each.fresh.size();
        }
        return size;
    }

    /** Returns the number of tenants with sequences. */
    int tenants() {
        return tenants.size();
    }

    /** Returns the sequence to begin next, or null when no sequence waits. */
    @Nullable
    Sequence first() {
        if (!preempted.isEmpty()) {
            return preempted.first();
        }
        Tenant next = null;
        for (Tenant each : tenants.values()) {
            if (!each.fresh.isEmpty() && (next == null || TURNS.compare(each, next) < 0)) {
                next = each;
            }
        }
        return next == null ? null : next.fresh.first();
    }

    /** Removes a waiting sequence that begins to run. */
    void begin(Sequence sequence) {
        if (preempted.remove(sequence)) {
            return;
        }
        Tenant tenant = Objects.requireNonNull(tenants.get(name(sequence)));
        tenant.fresh.remove(sequence);
        tenant.running++;
        tenant.lastTurn = places;
        sequence.takePlace(places++);
    }

    /** Removes a sequence that has ended, waiting or not. */
    void end(Sequence sequence) {
        Tenant tenant = Objects.requireNonNull(tenants.get(name(sequence)));
        if (sequence.hasBegun()) {
            preempted.remove(sequence);
            tenant.running--;
        } else {
            tenant.fresh.remove(sequence);
        }
        if (tenant.running == 0 && tenant.fresh.isEmpty()) {
            tenants.remove(name(sequence));
        }
    }

    void forEach(Consumer<Sequence> action) {
        preempted.forEach(action);
        tenants.values().forEach(each -> each.fresh.forEach(action));
    }

    /** Returns all sequences. */
    List<Sequence> sequences() {
        List<Sequence> all = new ArrayList<>();
        forEach(all::add);
        return all;
    }

    private static String name(Sequence sequence) {
        return sequence.generation().request().tenant();
    }
}

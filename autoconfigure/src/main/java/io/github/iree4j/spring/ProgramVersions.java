package io.github.iree4j.spring;

import java.math.BigInteger;
import java.util.Comparator;
import java.util.NavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;

/** The versions of a program. Thread-safe. */
final class ProgramVersions {

    private static final Comparator<String> NEWEST_FIRST = Comparator.comparing((String version) ->
                    version.matches("[0-9]{1,40}") ? new BigInteger(version) : BigInteger.ONE.negate())
            .thenComparing(Comparator.naturalOrder())
            .reversed();

    final NavigableMap<String, ProgramSlot> slots = new ConcurrentSkipListMap<>(NEWEST_FIRST);

    /** The latest loaded version; else the latest that has not failed, or any that has; null when there is none. */
    @Nullable
    ProgramSlot latest() {
        ProgramSlot best = null;
        for (ProgramSlot slot : slots.values()) {
            if (slot.loaded() != null) {
                return slot;
            }
            best = best == null || best.status().state() == ProgramState.FAILED ? slot : best;
        }
        return best;
    }
}

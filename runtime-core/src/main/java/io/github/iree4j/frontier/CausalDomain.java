package io.github.iree4j.frontier;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The kind of a timeline named by an {@link Axis}. The numbers are part of the axis and of the wire form. */
public enum CausalDomain {
    /** A queue of a device: one epoch per operation. */
    QUEUE(0),
    /** A channel shared by several queues: one epoch per collective operation, whatever the number of participants. */
    COLLECTIVE(1),
    /** Work of the host: contexts, threads, callers. */
    HOST(3);

    private final int number;
    private final String label;

    CausalDomain(int number) {
        this.number = number;
        this.label = name().toLowerCase(Locale.ROOT);
    }

    /**
     * Returns the domain's number in an axis: 0, 1 or 3.
     *
     * @return the number
     */
    public int number() {
        return number;
    }

    /** Returns the domain's name in formatted axes. */
    String label() {
        return label;
    }

    /** Returns the domain of a number, or null. */
    static @Nullable CausalDomain ofNumber(int number) {
        return switch (number) {
            case 0 -> QUEUE;
            case 1 -> COLLECTIVE;
            case 3 -> HOST;
            default -> null;
        };
    }
}

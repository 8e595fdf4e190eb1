package io.github.iree4j.frontier;

import java.util.Locale;

/** The kind of timeline that an {@link Axis} names. The numbers are part of the axis and of the wire form. */
public enum CausalDomain {
    /** A queue of a device: one epoch per operation. */
    QUEUE(0),
    /** A channel that several queues share: one epoch per collective operation, whatever the number of participants. */
    COLLECTIVE(1),
    /** Work that runs after operations, such as releasing their resources. */
    EPILOGUE(2),
    /** Work of the host: contexts, threads, callers. */
    HOST(3);

    private static final CausalDomain[] BY_NUMBER = values();

    private final int number;
    private final String label;

    CausalDomain(int number) {
        this.number = number;
        this.label = name().toLowerCase(Locale.ROOT);
    }

    /**
     * Returns the number that stands for the domain in an axis, 0 to 3.
     *
     * @return the number
     */
    public int number() {
        return number;
    }

    /** The domain's name in formatted axes. */
    String label() {
        return label;
    }

    /** Returns whether a domain has that number. */
    static boolean isKnown(int number) {
        return number >= 0 && number < BY_NUMBER.length;
    }

    /** The domain of a known number. */
    static CausalDomain ofNumber(int number) {
        return BY_NUMBER[number];
    }
}

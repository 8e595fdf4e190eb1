package io.github.iree4j.frontier;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;

/**
 * The permanent name of a timeline: a {@code long}, so that frontiers hold axes without objects. This class packs and
 * unpacks axes.
 *
 * <p>Axes are compared as unsigned numbers ({@link #compare}), which is the order of frontiers and of the wire form. An
 * axis is never reused: see {@link AxisAllocator}.
 */
public final class Axis {
    /*
     *   63..56    55..48    47..40   39..0
     *   session | machine | domain | ordinal
     *
     * session 1 to 255; never 0, so that the long 0 is not an axis
     * machine  0 to 255; number within a cluster, 0 outside one
     * domain   number of a CausalDomain
     * ordinal  increases within (session, machine, domain)
     */

    /** The long that is not an axis. */
    public static final long NONE = 0;

    /** The largest session. Sessions start at 1. */
    public static final int MAXIMUM_SESSION = 255;

    /** The largest machine. Machines start at 0. */
    public static final int MAXIMUM_MACHINE = 255;

    /** The largest ordinal. Ordinals start at 0. */
    public static final long MAXIMUM_ORDINAL = (1L << 40) - 1;

    private Axis() {}

    /**
     * Packs an axis. Only {@link AxisAllocator} creates new axes; other callers name an existing axis.
     *
     * @param session the session of the process that owns the timeline, 1 to 255
     * @param machine the process's machine, 0 to 255
     * @param domain the kind of timeline
     * @param ordinal the timeline's number within the kind, 0 to 2^40 - 1
     * @return the axis
     * @throws IreeException INVALID_ARGUMENT when a part is out of range
     */
    public static long of(int session, int machine, CausalDomain domain, long ordinal) {
        checkPart("session", session, 1, MAXIMUM_SESSION);
        checkPart("machine", machine, 0, MAXIMUM_MACHINE);
        checkPart("ordinal", ordinal, 0, MAXIMUM_ORDINAL);
        return (long) session << 56 | (long) machine << 48 | (long) domain.number() << 40 | ordinal;
    }

    /**
     * Returns the session, which identifies a run of a process.
     *
     * @param axis the axis
     * @return 1 to 255
     */
    public static int session(long axis) {
        return (int) (axis >>> 56);
    }

    /**
     * Returns the machine within a cluster.
     *
     * @param axis the axis
     * @return 0 to 255
     */
    public static int machine(long axis) {
        return (int) (axis >>> 48) & 0xFF;
    }

    /**
     * Returns the kind of timeline.
     *
     * @param axis a valid axis
     * @return the domain
     * @throws IreeException INVALID_ARGUMENT when no domain has the axis's number
     */
    public static CausalDomain domain(long axis) {
        int number = domainNumber(axis);
        CausalDomain domain = CausalDomain.ofNumber(number);
        if (domain == null) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "axis '" + toString(axis) + "' has domain " + number + ", not 0, 1 or 3");
        }
        return domain;
    }

    /**
     * Returns the timeline's number within its session, machine and domain.
     *
     * @param axis the axis
     * @return 0 to 2^40 - 1
     */
    public static long ordinal(long axis) {
        return axis & MAXIMUM_ORDINAL;
    }

    /**
     * Returns whether the bits are a valid axis, with a session and an existing domain. For untrusted input.
     *
     * @param bits any long
     * @return true if the bits form an axis
     */
    public static boolean isValid(long bits) {
        return session(bits) != 0 && CausalDomain.ofNumber(domainNumber(bits)) != null;
    }

    /**
     * Compares axes in the order of frontiers: as unsigned numbers.
     *
     * @param left an axis
     * @param right another
     * @return negative, zero or positive
     */
    public static int compare(long left, long right) {
        return Long.compareUnsigned(left, right);
    }

    /**
     * Formats an axis as {@code domain:ordinal@mM.sS}, for example {@code queue:3@m1.s7}.
     *
     * @param axis any long
     * @return the text
     */
    public static String toString(long axis) {
        int number = domainNumber(axis);
        CausalDomain domain = CausalDomain.ofNumber(number);
        String label = domain == null ? "domain" + number : domain.label();
        return label + ":" + ordinal(axis) + "@m" + machine(axis) + ".s" + session(axis);
    }

    /** Returns the bits of session and machine. */
    static int node(long axis) {
        return (int) (axis >>> 48);
    }

    static int domainNumber(long axis) {
        return (int) (axis >>> 40) & 0xFF;
    }

    private static void checkPart(String what, long value, long minimum, long maximum) {
        if (value < minimum || value > maximum) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    what + " " + value + " of an axis is not within [" + minimum + ", " + maximum + "]");
        }
    }
}

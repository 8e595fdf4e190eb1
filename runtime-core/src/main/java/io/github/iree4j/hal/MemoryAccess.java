package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;

/** Bits for present or future accesses to memory ({@code iree/hal/buffer.h}). */
@NotForApplications
public final class MemoryAccess {
    /** Reads. */
    public static final int READ = 0x1;
    /** Writes. */
    public static final int WRITE = 0x2;
    /** The old contents need not be kept. */
    public static final int DISCARD = 0x4;
    /** Overwrites everything. */
    public static final int DISCARD_WRITE = WRITE | DISCARD;
    /** Ranges may overlap other ranges in use. */
    public static final int MAY_ALIAS = 0x8;
    /** Accesses need not be aligned. */
    public static final int UNALIGNED = 0x10;
    /** All accesses allowed by the memory. */
    public static final int ANY = 0x20;
    /** Reads, writes and discards. */
    public static final int ALL = READ | WRITE | DISCARD;

    private static final Flags FLAGS = new Flags(
            new int[] {READ, WRITE, DISCARD, MAY_ALIAS, UNALIGNED, ANY},
            new String[] {"READ", "WRITE", "DISCARD", "MAY_ALIAS", "UNALIGNED", "ANY"});

    private MemoryAccess() {}

    /**
     * Prints bits by name.
     *
     * @param bits access bits
     * @return for example {@code READ|WRITE}
     */
    public static String format(int bits) {
        return FLAGS.format(bits);
    }
}

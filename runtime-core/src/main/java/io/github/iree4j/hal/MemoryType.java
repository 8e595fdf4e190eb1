package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;

/** Bits for the location and the visibility of memory ({@code iree/hal/buffer.h}). */
@NotForApplications
public final class MemoryType {
    /** A preference: take the best available memory for the other bits. */
    public static final int OPTIMAL = 0x1;
    /** Mappable by the host. */
    public static final int HOST_VISIBLE = 0x2;
    /** Host and device see writes of the other side without flushing. */
    public static final int HOST_COHERENT = 0x4;
    /** Host reads are cached. */
    public static final int HOST_CACHED = 0x8;
    /** Usable by devices. */
    public static final int DEVICE_VISIBLE = 0x10;
    /** Lies in host memory. */
    public static final int HOST_LOCAL = HOST_VISIBLE | HOST_COHERENT | 0x40;
    /** Lies in device memory. */
    public static final int DEVICE_LOCAL = DEVICE_VISIBLE | 0x20;

    private static final Flags FLAGS = new Flags(
            new int[] {HOST_LOCAL, DEVICE_LOCAL, OPTIMAL, HOST_VISIBLE, HOST_COHERENT, HOST_CACHED, DEVICE_VISIBLE},
            new String[] {
                "HOST_LOCAL",
                "DEVICE_LOCAL",
                "OPTIMAL",
                "HOST_VISIBLE",
                "HOST_COHERENT",
                "HOST_CACHED",
                "DEVICE_VISIBLE"
            });

    private MemoryType() {}

    /**
     * Prints bits by name.
     *
     * @param bits memory type bits
     * @return for example {@code HOST_VISIBLE|DEVICE_LOCAL}
     */
    public static String format(int bits) {
        return FLAGS.format(bits);
    }
}

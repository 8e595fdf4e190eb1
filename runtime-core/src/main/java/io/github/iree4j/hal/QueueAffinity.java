package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;

/** Bit masks of permitted queues of a device: bit n is queue n. */
@NotForApplications
public final class QueueAffinity {
    /** Any queue. Zero means the same. */
    public static final long ANY = -1L;

    private QueueAffinity() {}

    /**
     * Reduces a mask to the existing queues of a device.
     *
     * @param affinity the mask; {@link #ANY} and 0 are all queues
     * @param queueCount queues of the device, 1 to 64
     * @return the mask of the existing queues, not 0
     * @throws IreeException INVALID_ARGUMENT when none of the queues exists
     */
    public static long normalize(long affinity, int queueCount) {
        long existing = queueCount >= Long.SIZE ? -1L : (1L << queueCount) - 1;
        long wanted = affinity == 0 ? existing : affinity & existing;
        if (wanted == 0) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "queue affinity 0x%x names none of the device's %d queues; pass -1 for any"
                            .formatted(affinity, queueCount));
        }
        return wanted;
    }

    /**
     * Picks a queue from a mask: the first.
     *
     * @param affinity the mask
     * @param queueCount queues of the device
     * @return the queue's index
     * @throws IreeException INVALID_ARGUMENT when none of the queues exists
     */
    public static int first(long affinity, int queueCount) {
        return Long.numberOfTrailingZeros(normalize(affinity, queueCount));
    }
}

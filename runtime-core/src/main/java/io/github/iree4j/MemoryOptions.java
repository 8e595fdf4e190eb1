package io.github.iree4j;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Map;

/**
 * How much memory a runtime's devices may take, and who may have how much of it. What a program asks for in the order of its work waits
 * for memory that others free; what could never fit fails at once, with the request, the limit and who has what.
 *
 * @param limit the most bytes that the buffers of one device may take at once; 0 is what the device has
 * @param quotas the most bytes of a device that one program may have at once, by its name: that of its last module, for a file without
 *     {@code .vmfb}
 */
public record MemoryOptions(long limit, Map<String, Long> quotas) {
    /** What the device has, and for everybody. */
    public static final MemoryOptions DEFAULTS = new MemoryOptions(0, Map.of());

    /**
     * Checks the numbers and keeps its own copy of the quotas.
     *
     * @throws IreeException INVALID_ARGUMENT when one is negative
     */
    public MemoryOptions {
        check("memory limit", limit);
        quotas = Map.copyOf(quotas);
        quotas.forEach((program, bytes) -> check("memory quota of '" + program + "'", bytes));
    }

    private static void check(String what, long bytes) {
        if (bytes < 0) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT, "the %s is %d bytes, it must not be negative".formatted(what, bytes));
        }
    }
}

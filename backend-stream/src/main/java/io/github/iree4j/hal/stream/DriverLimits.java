package io.github.iree4j.hal.stream;

/**
 * The limits of a device.
 *
 * @param alignment required alignment of buffers for code of the device, bytes, wherever allocations begin; a power of
 *     two
 * @param largestAllocation maximum bytes of one allocation; {@link Long#MAX_VALUE} for no limit
 * @param allocationCount maximum number of live allocations; 0 for no limit
 * @param hostAlignment required alignment of imported host memory, bytes; a power of two, or 0 where the driver does
 *     not import host memory
 */
public record DriverLimits(long alignment, long largestAllocation, long allocationCount, long hostAlignment) {

    /**
     * Checks the limits.
     *
     * @throws IllegalArgumentException for meaningless limits
     */
    public DriverLimits {
        if (Long.bitCount(alignment) != 1 || alignment < 0 || Long.bitCount(hostAlignment) > 1 || hostAlignment < 0) {
            throw new IllegalArgumentException(
                    "alignment %d and host alignment %d must be powers of two".formatted(alignment, hostAlignment));
        }
        if (largestAllocation <= 0 || allocationCount < 0) {
            throw new IllegalArgumentException("largest allocation %d and number of allocations %d leave no memory"
                    .formatted(largestAllocation, allocationCount));
        }
    }
}

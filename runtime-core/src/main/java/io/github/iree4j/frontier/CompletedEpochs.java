package io.github.iree4j.frontier;

/**
 * What has completed, per axis.
 *
 * <p>Safe from any thread. The answer for an axis never goes down: an entry found completed stays so.
 */
@FunctionalInterface
public interface CompletedEpochs {
    /** Knows of nothing that completed. */
    CompletedEpochs NONE = axis -> 0;

    /**
     * Returns how far an axis has completed.
     *
     * @param axis the axis, known or not
     * @return the greatest epoch e such that everything on the axis up to e has retired; 0 when nothing has, or the axis is unknown
     */
    long completed(long axis);
}

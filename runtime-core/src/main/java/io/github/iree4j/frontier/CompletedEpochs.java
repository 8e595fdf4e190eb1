package io.github.iree4j.frontier;

/**
 * The completed epoch of each axis.
 *
 * <p>Safe from any thread. The epoch of an axis never decreases: a completed entry stays completed.
 */
@FunctionalInterface
public interface CompletedEpochs {
    /** Reports nothing as completed. */
    CompletedEpochs NONE = axis -> 0;

    /**
     * Returns the completed epoch of an axis.
     *
     * @param axis the axis, known or not
     * @return the greatest epoch e such that everything on the axis up to e is known to have retired; 0 when nothing
     *     is, or the axis is unknown. A result below an epoch does not prove that the epoch has not retired
     */
    long completed(long axis);
}

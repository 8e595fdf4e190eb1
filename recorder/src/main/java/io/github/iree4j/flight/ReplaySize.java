package io.github.iree4j.flight;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;

/** The memory needed to repeat a recording. */
final class ReplaySize {
    // Bytes taken by an operation and a point in a replay, beside the recording: measured, and doubled.
    private static final long REPLAY_BYTES = 4096;
    private static final long POINT_BYTES = 512;

    private ReplaySize() {}

    /**
     * Checks for enough memory to repeat the operations, with a timeline for each point.
     *
     * @param heap bytes
     * @throws IreeException RESOURCE_EXHAUSTED without enough memory
     */
    static void check(OperationGraph graph, long heap) {
        long bytes = 0;
        for (RecordedOperation each : graph.operations()) {
            bytes += REPLAY_BYTES
                    + POINT_BYTES * (each.waits().size() + (long) each.signals().size());
        }
        if (bytes > heap) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "to repeat %d operations may take %d bytes, more than the %d of this heap; give Java more memory (-Xmx), or record less"
                            .formatted(graph.operations().size(), bytes, heap));
        }
    }
}

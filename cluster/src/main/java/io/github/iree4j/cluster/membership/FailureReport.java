package io.github.iree4j.cluster.membership;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.TreeSet;

/**
 * A node's report to the other members of a view: the members failed by the node.
 *
 * @param view the number of the view
 * @param failed the incarnations of members excluded from sessions with the node; at most 1024
 */
@NotForApplications
public record FailureReport(long view, Set<Long> failed) {

    private static final int MOST = 1024; // more than the number of machine indices

    /**
     * Copies the set.
     *
     * @throws IreeException INVALID_ARGUMENT for more than 1024 members
     */
    public FailureReport {
        if (failed.size() > MOST) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "a report of failures names %d nodes, the limit is %d".formatted(failed.size(), MOST));
        }
        failed = Set.copyOf(failed);
    }

    /**
     * Encodes the report.
     *
     * @return at most 8200 bytes
     */
    public byte[] encode() {
        ByteBuffer into = ByteBuffer.allocate(Long.BYTES * (1 + failed.size())).putLong(view);
        new TreeSet<>(failed).forEach(into::putLong);
        return into.array();
    }

    /**
     * Decodes a report. For untrusted input.
     *
     * @param bytes the result of {@link #encode()}
     * @return the report
     * @throws IreeException DATA_LOSS when the bytes are not a report
     */
    public static FailureReport decode(ByteBuffer bytes) {
        int length = bytes.remaining();
        if (length < Long.BYTES || length % Long.BYTES != 0 || length > Long.BYTES * (1 + MOST)) {
            throw IreeException.of(
                    StatusCode.DATA_LOSS,
                    "%d bytes are not a report of failures, which has 8 to %d in steps of 8"
                            .formatted(length, Long.BYTES * (1 + MOST)));
        }
        ByteBuffer from = bytes.slice();
        long view = from.getLong();
        Set<Long> failed = new TreeSet<>();
        while (from.hasRemaining()) {
            failed.add(from.getLong());
        }
        return new FailureReport(view, failed);
    }
}

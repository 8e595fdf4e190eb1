package io.github.iree4j.hal;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;

/**
 * Numbers of bytes sent and received by a participant of a collective; -1 for no range at all.
 *
 * @param sourceBytes bytes sent
 * @param targetBytes bytes received
 */
record CollectiveRanges(long sourceBytes, long targetBytes) {
    private static final int NO_RANK = 0xFFFF;

    /** Checks an operation against the group, and returns the ranges needed by the participant. */
    static CollectiveRanges of(Collective operation, int parameter, long elementCount, int rank, int count) {
        int kind = operation.kind();
        if (kind > Collective.SEND_RECV
                || operation.reduction() > Collective.AVERAGE
                || operation.elementType() > Collective.BF16
                || operation.packed() >>> 24 != 0) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "collective operation 0x%x has an unknown kind, reduction or element type"
                            .formatted(operation.packed()));
        }
        boolean reduces =
                kind == Collective.ALL_REDUCE || kind == Collective.REDUCE || kind == Collective.REDUCE_SCATTER;
        if (reduces != (operation.reduction() != Collective.NONE)) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    operation.name() + (reduces ? " needs a reduction" : " does not reduce") + ", reduction is "
                            + operation.reduction());
        }
        if (elementCount < 0 || elementCount > Long.MAX_VALUE / 8 / count) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "%s of %d elements among %d participants".formatted(operation.name(), elementCount, count));
        }
        long bytes = elementCount * operation.elementSize();
        return switch (kind) {
            case Collective.ALL_GATHER -> new CollectiveRanges(bytes, bytes * count);
            case Collective.ALL_REDUCE -> new CollectiveRanges(bytes, bytes);
            case Collective.ALL_TO_ALL -> {
                if (elementCount % count != 0) {
                    throw IreeException.of(
                            StatusCode.INVALID_ARGUMENT,
                            "all_to_all of %d elements does not divide among %d participants"
                                    .formatted(elementCount, count));
                }
                yield new CollectiveRanges(bytes, bytes);
            }
            case Collective.BROADCAST ->
                checkRank("root", parameter, count) == rank
                        ? new CollectiveRanges(bytes, -1)
                        : new CollectiveRanges(-1, bytes);
            case Collective.REDUCE ->
                new CollectiveRanges(bytes, checkRank("root", parameter, count) == rank ? bytes : -1);
            case Collective.REDUCE_SCATTER -> new CollectiveRanges(bytes * count, bytes);
            case Collective.SEND -> {
                checkRank("target", parameter, count);
                yield new CollectiveRanges(bytes, -1);
            }
            case Collective.RECV -> {
                checkRank("source", parameter, count);
                yield new CollectiveRanges(-1, bytes);
            }
            default -> {
                int target = parameter & 0xFFFF;
                int source = parameter >>> 16;
                if (source != NO_RANK) {
                    checkRank("source", source, count);
                }
                if (target != NO_RANK) {
                    checkRank("target", target, count);
                }
                yield new CollectiveRanges(target == NO_RANK ? -1 : bytes, bytes);
            }
        };
    }

    private static int checkRank(String what, int rank, int count) {
        if (rank < 0 || rank >= count) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "%s rank %d of a collective is not within [0, %d]".formatted(what, rank, count - 1));
        }
        return rank;
    }
}

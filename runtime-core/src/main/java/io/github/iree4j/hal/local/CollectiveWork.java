package io.github.iree4j.hal.local;

import io.github.iree4j.hal.Collective;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Moves and reduces the elements of a collective whose participants have all arrived. In ascending order of rank, so that results
 * do not depend on the order of arrival. Needs no extra memory: works in place where sources and targets coincide.
 */
final class CollectiveWork {
    private CollectiveWork() {}

    /**
     * A collective of all participants.
     *
     * @param arrivals by rank, {@link CollectiveArrival}s
     * @throws IreeException INVALID_ARGUMENT when they disagree
     */
    static void all(List<Arrival> arrivals) {
        List<CollectiveArrival> members = new ArrayList<>(arrivals.size());
        for (Arrival each : arrivals) {
            members.add((CollectiveArrival) each);
        }
        checkSame(members);
        CollectiveArrival first = members.getFirst();
        int count = members.size();
        long bytes = first.elementCount * first.operation.elementSize();
        switch (first.operation.kind()) {
            case Collective.ALL_GATHER -> {
                for (int from = 0; from < count; from++) {
                    for (CollectiveArrival to : members) {
                        copy(source(members.get(from)), 0, target(to), from * bytes, bytes);
                    }
                }
            }
            case Collective.ALL_TO_ALL -> {
                long part = bytes / count;
                for (int from = 0; from < count; from++) {
                    for (int to = 0; to < count; to++) {
                        copy(source(members.get(from)), to * part, target(members.get(to)), from * part, part);
                    }
                }
            }
            case Collective.BROADCAST -> {
                MemorySegment root = source(members.get(first.parameter));
                for (int to = 0; to < count; to++) {
                    if (to != first.parameter) {
                        copy(root, 0, target(members.get(to)), 0, bytes);
                    }
                }
            }
            case Collective.ALL_REDUCE -> {
                List<MemorySegment> targets = new ArrayList<>(count);
                members.forEach(each -> targets.add(target(each)));
                Reduction.of(first.operation).reduce(sources(members), 0, targets, first.elementCount);
            }
            case Collective.REDUCE ->
                Reduction.of(first.operation)
                        .reduce(sources(members), 0, List.of(target(members.get(first.parameter))), first.elementCount);
            case Collective.REDUCE_SCATTER -> {
                Reduction reduction = Reduction.of(first.operation);
                for (int to = 0; to < count; to++) {
                    reduction.reduce(
                            sources(members),
                            to * first.elementCount,
                            List.of(target(members.get(to))),
                            first.elementCount);
                }
            }
            default ->
                throw new IreeException(StatusCode.INTERNAL, first.operation + " is not one of all participants");
        }
    }

    private static void checkSame(List<CollectiveArrival> members) {
        CollectiveArrival first = members.getFirst();
        int kind = first.operation.kind();
        boolean rooted = kind == Collective.BROADCAST || kind == Collective.REDUCE;
        for (int rank = 1; rank < members.size(); rank++) {
            CollectiveArrival each = members.get(rank);
            if (!each.operation.equals(first.operation)
                    || each.elementCount != first.elementCount
                    || rooted && each.parameter != first.parameter) {
                throw new IreeException(
                        StatusCode.INVALID_ARGUMENT,
                        "participants of a collective disagree: rank 0 has %s, rank %d has %s"
                                .formatted(describe(first, rooted), rank, describe(each, rooted)));
            }
        }
    }

    private static String describe(CollectiveArrival arrival, boolean rooted) {
        return "%s, %d elements%s"
                .formatted(arrival.operation, arrival.elementCount, rooted ? ", root " + arrival.parameter : "");
    }

    /**
     * A transfer from one participant to another.
     *
     * @param arrivals the sender and the receiver, {@link CollectiveArrival}s
     * @throws IreeException INVALID_ARGUMENT when they do not agree on the elements
     */
    static void transfer(List<Arrival> arrivals) {
        CollectiveArrival from = (CollectiveArrival) arrivals.get(0);
        CollectiveArrival to = (CollectiveArrival) arrivals.get(1);
        if (from.elementCount != to.elementCount || from.operation.elementType() != to.operation.elementType()) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "participants of a transfer disagree: sent is %s, received %s"
                            .formatted(describe(from, false), describe(to, false)));
        }
        long bytes = from.elementCount * from.operation.elementSize();
        copy(source(from), 0, target(to), 0, bytes);
    }

    private static void copy(MemorySegment from, long fromOffset, MemorySegment to, long toOffset, long bytes) {
        MemorySegment.copy(from, fromOffset, to, toOffset, bytes);
    }

    private static List<MemorySegment> sources(List<CollectiveArrival> members) {
        List<MemorySegment> sources = new ArrayList<>(members.size());
        members.forEach(each -> sources.add(source(each)));
        return sources;
    }

    private static MemorySegment source(CollectiveArrival arrival) {
        return required(arrival.source, arrival);
    }

    private static MemorySegment target(CollectiveArrival arrival) {
        return required(arrival.target, arrival);
    }

    private static MemorySegment required(@Nullable MemorySegment range, CollectiveArrival arrival) {
        if (range == null) {
            throw new IreeException(
                    StatusCode.INTERNAL, arrival.operation + " was recorded without a range that it needs");
        }
        return range;
    }
}

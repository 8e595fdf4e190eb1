package io.github.iree4j.hal.local;

import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.collective.Agreement;
import io.github.iree4j.hal.collective.ChannelGroup;
import io.github.iree4j.hal.collective.CollectiveArrival;
import io.github.iree4j.hal.collective.CollectiveBackend;
import io.github.iree4j.hal.collective.GroupWork;
import io.github.iree4j.hal.collective.Meetings;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Moves and reduces the elements of a collective after all participants have arrived. In ascending order of rank, so
 * results do not depend on the order of arrival. Needs no extra memory: works in place where sources and targets
 * coincide.
 */
final class CollectiveWork {
    private CollectiveWork() {}

    /** On the CPU, a group needs no state. */
    enum Backend implements CollectiveBackend {
        INSTANCE;

        @Override
        public GroupWork begin(ChannelGroup group) {
            return meetings -> {
                for (Meetings.Meeting each : meetings) {
                    group.over(each, ChannelGroup.attempt(() -> work(each)));
                }
            };
        }
    }

    private static void work(Meetings.Meeting meeting) {
        List<CollectiveArrival> members = Agreement.of(meeting);
        if (meeting.kind() == Meetings.Kind.TRANSFER) {
            transfer(members.get(0), members.get(1));
        } else {
            all(members);
        }
    }

    /** Executes a collective of all participants, by rank. */
    private static void all(List<CollectiveArrival> members) {
        CollectiveArrival first = members.getFirst();
        int count = members.size();
        long bytes = first.elementCount() * first.operation().elementSize();
        switch (first.operation().kind()) {
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
                MemorySegment root = source(members.get(first.parameter()));
                for (int to = 0; to < count; to++) {
                    if (to != first.parameter()) {
                        copy(root, 0, target(members.get(to)), 0, bytes);
                    }
                }
            }
            case Collective.ALL_REDUCE -> {
                List<MemorySegment> targets = new ArrayList<>(count);
                members.forEach(each -> targets.add(target(each)));
                Reduction.of(first.operation()).reduce(sources(members), 0, targets, first.elementCount());
            }
            case Collective.REDUCE ->
                Reduction.of(first.operation())
                        .reduce(
                                sources(members),
                                0,
                                List.of(target(members.get(first.parameter()))),
                                first.elementCount());
            case Collective.REDUCE_SCATTER -> {
                Reduction reduction = Reduction.of(first.operation());
                for (int to = 0; to < count; to++) {
                    reduction.reduce(
                            sources(members),
                            to * first.elementCount(),
                            List.of(target(members.get(to))),
                            first.elementCount());
                }
            }
            default ->
                throw IreeException.of(StatusCode.INTERNAL, first.operation() + " is not one of all participants");
        }
    }

    /** Executes a transfer between two participants. */
    private static void transfer(CollectiveArrival from, CollectiveArrival to) {
        long bytes = from.elementCount() * from.operation().elementSize();
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
        return required(arrival.source(), arrival);
    }

    private static MemorySegment target(CollectiveArrival arrival) {
        return required(arrival.target(), arrival);
    }

    private static MemorySegment required(@Nullable MemorySegment range, CollectiveArrival arrival) {
        if (range == null) {
            throw IreeException.of(
                    StatusCode.INTERNAL, arrival.operation() + " was recorded without a range that it needs");
        }
        return range;
    }
}

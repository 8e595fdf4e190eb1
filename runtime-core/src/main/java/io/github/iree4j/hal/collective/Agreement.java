package io.github.iree4j.hal.collective;

import io.github.iree4j.hal.Collective;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;

/** Checks that all participants of a meeting request the same operation. */
public final class Agreement {
    private Agreement() {}

    /**
     * Returns the participants of a collective.
     *
     * @param meeting a collective or a transfer, complete
     * @return the arrivals of the meeting, by party
     * @throws IreeException INVALID_ARGUMENT when the participants disagree
     */
    public static List<CollectiveArrival> of(Meetings.Meeting meeting) {
        List<CollectiveArrival> members = new ArrayList<>();
        for (Arrival each : meeting.arrivals()) {
            members.add((CollectiveArrival) each);
        }
        if (meeting.kind() == Meetings.Kind.TRANSFER) {
            checkTransfer(members.get(0), members.get(1));
        } else {
            checkSame(members);
        }
        return members;
    }

    private static void checkSame(List<CollectiveArrival> members) {
        CollectiveArrival first = members.getFirst();
        int kind = first.operation().kind();
        boolean rooted = kind == Collective.BROADCAST || kind == Collective.REDUCE;
        for (int rank = 1; rank < members.size(); rank++) {
            CollectiveArrival each = members.get(rank);
            if (!each.operation().equals(first.operation())
                    || each.elementCount() != first.elementCount()
                    || rooted && each.parameter() != first.parameter()) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "participants of a collective disagree: rank 0 has %s, rank %d has %s"
                                .formatted(describe(first, rooted), rank, describe(each, rooted)));
            }
        }
    }

    private static String describe(CollectiveArrival arrival, boolean rooted) {
        return "%s, %d elements%s"
                .formatted(arrival.operation(), arrival.elementCount(), rooted ? ", root " + arrival.parameter() : "");
    }

    private static void checkTransfer(CollectiveArrival from, CollectiveArrival to) {
        if (from.elementCount() != to.elementCount()
                || from.operation().elementType() != to.operation().elementType()) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "participants of a transfer disagree: sent is %s, received %s"
                            .formatted(describe(from, false), describe(to, false)));
        }
    }
}

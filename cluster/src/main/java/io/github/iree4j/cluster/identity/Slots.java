package io.github.iree4j.cluster.identity;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;

/** The failures of stores without a slot. */
final class Slots {

    private Slots() {}

    /** All machine indices are leased, or the unleased indices have no session left. */
    static IreeException noneFree(int machines, boolean exhausted) {
        return exhausted
                ? IreeException.of(
                        StatusCode.RESOURCE_EXHAUSTED,
                        "no free machine index of %d has a session left: each has %d, and none is used twice; %s"
                                .formatted(machines, Axis.MAXIMUM_SESSION, remedy()))
                : IreeException.of(
                        StatusCode.RESOURCE_EXHAUSTED,
                        "all %d machine indices are leased; stop a node or raise 'iree.cluster.identity.machines', at most %d"
                                .formatted(machines, Axis.MAXIMUM_MACHINE + 1));
    }

    /** A machine index has used all sessions. */
    static IreeException exhausted(int machine) {
        return IreeException.of(
                StatusCode.RESOURCE_EXHAUSTED,
                "machine index %d has used all of its %d sessions, and none is used twice; %s"
                        .formatted(machine, Axis.MAXIMUM_SESSION, remedy()));
    }

    private static String remedy() {
        return "stop all nodes and start them with another 'iree.cluster.name'";
    }
}

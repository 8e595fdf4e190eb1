package io.github.iree4j.hal.remote;

import io.github.iree4j.frontier.Axis;

/** A point of a lane served by a node; the text names the point in reports. */
record LanePoint(long incarnation, long axis, long epoch) {
    @Override
    public String toString() {
        return "epoch %d of lane %s of node %d".formatted(epoch, Axis.toString(axis), incarnation);
    }
}

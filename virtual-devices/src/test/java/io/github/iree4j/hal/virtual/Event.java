package io.github.iree4j.hal.virtual;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.schedule.QueueOperation;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * An event with a place on an axis in a {@link RandomProgram}: an operation, a collective, work of the host. Sequence
 * numbers and actions start at 1; 0 is never.
 */
final class Event {
    final int index;
    final String name;
    final boolean fifo;
    final @Nullable VirtualDevice device;
    long started;
    long ended;
    boolean ran; // otherwise the event never did, or its device was lost before
    int issuedBy; // the action of the frontier becoming known
    int knewBy; // the action of the last import: of the issue, on an unordered queue of the
    // start
    int completedBy; // the action of the host's notice of the end
    Frontier frontier = Frontier.EMPTY;
    /** Of the events known when this event became known those whose frontier then covered it. */
    final BitSet covered = new BitSet();

    final BitSet notCovered = new BitSet();

    @Nullable
    QueueOperation operation; // set at the run

    /** The step whose signal gives the frontier before. */
    @Nullable
    RandomProgram.Step teller;

    Event(int index, String name, @Nullable VirtualDevice device, boolean fifo) {
        this.index = index;
        this.name = name;
        this.device = device;
        this.fifo = fifo;
    }

    boolean isComplete() {
        return ended > 0;
    }

    long axis() {
        return frontier.producerAxis();
    }

    long epoch() {
        return frontier.producerEpoch();
    }

    @Nullable
    Frontier known() {
        if (operation != null) {
            return operation.frontier();
        }
        return teller == null ? null : teller.own.frontierAt(1);
    }

    @Override
    public String toString() {
        return "%s (%s, ran %d to %d, issued by action %d, completed by %d) %s"
                .formatted(name, fifo ? "FIFO" : "unordered", started, ended, issuedBy, completedBy, frontier);
    }
}

package io.github.iree4j.hal.stream;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.collective.CollectiveArrival;
import io.github.iree4j.hal.record.CollectiveCommand;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.MemorySegment;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A participant's arrival at a collective, with the point for the participant's lane to wait for. */
final class StreamArrival extends CollectiveArrival {
    private final int rank;
    private final @Nullable DriverTimeline timeline; // null without a wait
    private final long value;
    private final Consumer<Object> issued;

    StreamArrival(
            Frontier before,
            CollectiveCommand command,
            @Nullable MemorySegment source,
            @Nullable MemorySegment target,
            @Nullable DriverTimeline timeline,
            long value,
            Runnable unpin,
            Consumer<Object> issued,
            BiConsumer<@Nullable IreeException, Frontier> then) {
        super(before, command, source, target, unpin, then);
        this.rank = command.channel().rank();
        this.timeline = timeline;
        this.value = value;
        this.issued = issued;
    }

    int rank() {
        return rank;
    }

    /** Adds the point for the lane to wait for. */
    void addTo(TimelineWaits waits) {
        if (timeline != null) {
            waits.add(timeline, value);
        }
    }

    /** Provides the point at which the part ends, for waits of other work of the device. */
    void issued(ForeignPoint point) {
        issued.accept(point);
    }

    CollectiveCall call(Communicator by) {
        Collective own = operation();
        int peer = parameter();
        if (own.kind() == Collective.SEND_RECV) {
            boolean sends = source() != null;
            own = Collective.of(sends ? Collective.SEND : Collective.RECV, Collective.NONE, own.elementType());
            peer = sends ? peer & 0xFFFF : peer >>> 16;
        }
        return new CollectiveCall(
                by.device(),
                by.handle(),
                by.lane(),
                by.count(),
                own,
                peer,
                elementCount(),
                address(source()),
                address(target()));
    }

    private static long address(@Nullable MemorySegment range) {
        return range == null ? 0 : range.address();
    }
}

package io.github.iree4j.hal.remote;

import io.github.iree4j.status.IreeException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The lanes that this node has at peers, for peers that ask for points which they do not learn of otherwise. They may ask long after: a lane
 * outlives the session, and what is left of a lost one its device. Safe from any thread.
 */
final class ClientLanes {
    private final Map<Long, RemoteLane> lanes =
            new ConcurrentHashMap<>(); // by axis: of open devices, and those lost and not over
    private final Map<Long, Lost> lost = new ConcurrentHashMap<>(); // about as much as a tracker keeps of each axis

    /** Of a lane of a closed device, all of which is over. */
    private record Lost(long reached, IreeException cause) {}

    void add(RemoteLane lane) {
        lanes.put(lane.axis(), lane);
    }

    /** Its device is closed. */
    void closed(RemoteLane lane) {
        lane.whenOver(() -> {
            IreeException cause = lane.failure();
            if (cause != null) {
                lost.put(lane.axis(), new Lost(lane.reached(), cause));
            }
            lanes.remove(lane.axis());
        });
    }

    /**
     * Calls back once a point is reached, with null, or once it is over, with the loss.
     *
     * @param axis a lane of this node, which is open or was
     */
    void whenReached(long axis, long epoch, Consumer<@Nullable IreeException> action) {
        RemoteLane lane = lanes.get(axis);
        if (lane != null) {
            lane.whenReached(epoch, action);
            return;
        }
        Lost past = lost.get(axis); // a device that is not lost is closed after its work
        action.accept(past == null || epoch <= past.reached ? null : past.cause);
    }
}

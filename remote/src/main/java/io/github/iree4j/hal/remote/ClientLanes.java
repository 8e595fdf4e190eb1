package io.github.iree4j.hal.remote;

import io.github.iree4j.status.IreeException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The lanes of this node at peers, for peers asking about points not reported otherwise. A question may
 * arrive late: a lane outlives the session, and the record of a lost lane outlives the device. Safe from any thread.
 */
final class ClientLanes {
    private final Map<Long, RemoteLane> lanes =
            new ConcurrentHashMap<>(); // by axis: lanes of open devices, and lost lanes until their end
    // about as much data as a tracker keeps of each axis
    private final Map<Long, Lost> lost = new ConcurrentHashMap<>();

    /** The end of a lane of a closed device, after all of its points. */
    private record Lost(long reached, IreeException cause) {}

    void add(RemoteLane lane) {
        lanes.put(lane.axis(), lane);
    }

    /** Records that the device of a lane is closed. */
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
     * Calls back once a point is reached, with null, or once the point has ended, with the loss.
     *
     * @param axis the axis of a lane of this node, open now or before
     * @return forgets the callback
     */
    Runnable whenReached(long axis, long epoch, Consumer<@Nullable IreeException> action) {
        RemoteLane lane = lanes.get(axis);
        if (lane != null) {
            return lane.whenReached(epoch, action);
        }
        Lost past = lost.get(axis); // without a loss, a device is closed after the work
        action.accept(past == null || epoch <= past.reached ? null : past.cause);
        return () -> {};
    }
}

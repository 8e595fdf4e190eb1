package io.github.iree4j.hal.schedule;

import io.github.iree4j.hal.DeviceInfo;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;

/**
 * Queues of a device, by index. Added by the device's constructor; safe from any thread afterwards.
 *
 * @param <Q> the queues of the backend
 */
public final class DeviceQueues<Q extends ScheduledQueue<?>> implements Iterable<Q> {
    private final DeviceInfo device;
    private final int count;
    private final List<Q> queues;

    /**
     * Creates an empty list for the queues of a device.
     *
     * @param device the owner of the queues
     * @param count number of queues that will be added
     */
    public DeviceQueues(DeviceInfo device, int count) {
        this.device = device;
        this.count = count;
        this.queues = new ArrayList<>(count);
    }

    /** Adds the next queue. */
    public void add(Q queue) {
        queues.add(queue);
    }

    /** Returns the number of queues, including queues still to be added. */
    public int count() {
        return count;
    }

    /**
     * Returns a queue.
     *
     * @throws IreeException OUT_OF_RANGE for an index without a queue
     */
    public Q get(int index) {
        if (index < 0 || index >= count) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "queue %d of device '%s' with %d queues does not exist".formatted(index, device.id(), count));
        }
        return queues.get(index);
    }

    /** Returns whether any operation is in flight. */
    public boolean isBusy() {
        for (Q queue : queues) {
            if (!queue.scheduler().isIdle()) {
                return true;
            }
        }
        return false;
    }

    @Override
    public Iterator<Q> iterator() {
        return Collections.unmodifiableList(queues).iterator();
    }
}

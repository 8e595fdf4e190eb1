package io.github.iree4j.hal.schedule;

import io.github.iree4j.hal.DeviceInfo;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;

/**
 * The queues of a device, by index. The device's constructor adds them; safe from any thread after that.
 *
 * @param <Q> the queues of the backend
 */
public final class DeviceQueues<Q extends ScheduledQueue<?>> implements Iterable<Q> {
    private final DeviceInfo device;
    private final int count;
    private final List<Q> queues;

    /**
     * Of a device.
     *
     * @param device which has them
     * @param count how many will be added
     */
    public DeviceQueues(DeviceInfo device, int count) {
        this.device = device;
        this.count = count;
        this.queues = new ArrayList<>(count);
    }

    /** Adds the next one. */
    public void add(Q queue) {
        queues.add(queue);
    }

    /** How many there are, or will be. */
    public int count() {
        return count;
    }

    /**
     * One of them.
     *
     * @throws IreeException OUT_OF_RANGE when there is none with this index
     */
    public Q get(int index) {
        if (index < 0 || index >= count) {
            throw new IreeException(
                    StatusCode.OUT_OF_RANGE,
                    "queue %d of device '%s' with %d queues does not exist".formatted(index, device.id(), count));
        }
        return queues.get(index);
    }

    /** Whether any operation is in flight. */
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

package io.github.iree4j.async;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.frontier.Axis;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A queue's location, as far as {@link SemaphoreScope} depends on it. A queue creates a place at construction and
 * passes the place with each use.
 *
 * @param axis the queue's axis
 * @param device its device, compared by identity
 * @param group the devices that signal one another directly, compared by identity; the device itself when there are no
 *     others
 * @param promises recalls the queue's promises; null for a queue without promises
 */
@NotForApplications
public record QueuePlace(
        long axis, Object device, Object group, @Nullable PromiseSource promises) {

    /** Checks for nulls. */
    public QueuePlace {
        Objects.requireNonNull(device, "device");
        Objects.requireNonNull(group, "group");
    }

    /**
     * Creates the place of a queue without promises.
     *
     * @param axis the queue's axis
     * @param device its device
     * @param group the devices that signal one another directly
     */
    public QueuePlace(long axis, Object device, Object group) {
        this(axis, device, group, null);
    }

    /**
     * Returns the narrowest scope of a timeline used in both places.
     *
     * @param other another queue of this process, or this queue
     * @return QUEUE_LOCAL to PROCESS_LOCAL
     */
    @SuppressWarnings("ReferenceEquality") // devices are compared by identity
    public SemaphoreScope scopeWith(QueuePlace other) {
        if (axis == other.axis) {
            return SemaphoreScope.QUEUE_LOCAL;
        }
        if (device == other.device) {
            return SemaphoreScope.DEVICE_LOCAL;
        }
        return group == other.group ? SemaphoreScope.DEVICE_GROUP : SemaphoreScope.PROCESS_LOCAL;
    }

    @Override
    public String toString() {
        return Axis.toString(axis);
    }
}

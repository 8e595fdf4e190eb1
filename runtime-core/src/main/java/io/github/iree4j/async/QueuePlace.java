package io.github.iree4j.async;

import io.github.iree4j.frontier.Axis;
import java.util.Objects;

/**
 * Where a queue is, as far as {@link SemaphoreScope} asks. A queue makes one when it is created and passes it along with each use.
 *
 * @param axis the queue's axis
 * @param device its device, compared by identity
 * @param group the devices that signal one another directly, compared by identity; the device itself when it is alone
 */
public record QueuePlace(long axis, Object device, Object group) {

    /** Checks that nothing is null. */
    public QueuePlace {
        Objects.requireNonNull(device, "device");
        Objects.requireNonNull(group, "group");
    }

    /**
     * Returns the narrowest scope of a timeline used here and there.
     *
     * @param other another queue of this process, or this one
     * @return QUEUE_LOCAL to PROCESS_LOCAL
     */
    @SuppressWarnings("ReferenceEquality") // devices are the same only if they are one
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

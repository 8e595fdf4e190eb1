package io.github.iree4j.async;

import io.github.iree4j.frontier.Axis;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Where a queue is, as far as {@link SemaphoreScope} asks. A queue makes one when it is created and passes it along with each use.
 *
 * @param axis the queue's axis
 * @param device its device, compared by identity
 * @param group the devices that signal one another directly, compared by identity; the device itself when it is alone
 * @param promises what the queue knows of what it has promised; null for one that promises nothing
 */
public record QueuePlace(
        long axis, Object device, Object group, @Nullable PromiseSource promises) {

    /** Checks that nothing is null that must not be. */
    public QueuePlace {
        Objects.requireNonNull(device, "device");
        Objects.requireNonNull(group, "group");
    }

    /**
     * Makes the place of a queue that promises nothing.
     *
     * @param axis the queue's axis
     * @param device its device
     * @param group the devices that signal one another directly
     */
    public QueuePlace(long axis, Object device, Object group) {
        this(axis, device, group, null);
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

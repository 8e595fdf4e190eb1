package io.github.iree4j.hal.vulkan;

import io.github.iree4j.hal.stream.DriverTimeline;
import io.github.iree4j.nativeaccess.vulkan.VulkanTimeline;

/**
 * A timeline semaphore.
 *
 * @param timeline the native timeline
 */
record NativeTimeline(VulkanTimeline timeline) implements DriverTimeline {
    @Override
    public long value() {
        return timeline.value();
    }

    @Override
    public void signal(long value) {
        timeline.signal(value);
    }

    @Override
    public void retain() {
        timeline.retain();
    }

    @Override
    public boolean tryRetain() {
        return timeline.tryRetain();
    }

    @Override
    public void release() {
        timeline.release();
    }

    @Override
    public boolean isLive() {
        return timeline.isLive();
    }

    @Override
    public void close() {
        timeline.close();
    }

    @Override
    public int exportDescriptor() {
        return timeline.exportDescriptor();
    }

    @Override
    public void importDescriptor(int descriptor) {
        timeline.importDescriptor(descriptor);
    }
}

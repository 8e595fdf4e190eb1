package io.github.iree4j.nativeaccess.vulkan;

import io.github.iree4j.nativeaccess.NativeScratch;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/**
 * Commands recorded once and submitted any number of times, to queues of a single family.
 *
 * <p>Only one thread at a time may record, bind or submit, and no thread may record, bind or close while submitted work
 * uses this. The commands may be submitted again before earlier submissions have completed. Recorded buffers and
 * pipelines are not retained and must outlive the submissions.
 */
public final class VulkanCommands extends VulkanObject {
    private final int family;

    VulkanCommands(VulkanHandle device, long handle, int family) {
        super(device, handle, VulkanShim::commandsRelease);
        this.family = family;
    }

    /**
     * Returns the handle, only for words passed to this package.
     *
     * @return the handle, valid until closed
     */
    public long handle() {
        return handle;
    }

    /**
     * Returns the queue family for submissions.
     *
     * @return index into {@link VulkanDeviceProperties#queueFamilies}
     */
    public int family() {
        return family;
    }

    /**
     * Replaces the recording.
     *
     * @param words operations in the format of {@link VulkanWords}, in native memory; read during the call only
     * @param count number of words
     * @throws IreeException INVALID_ARGUMENT or OUT_OF_RANGE for malformed words or beyond the device's limits, naming the operation;
     *     RESOURCE_EXHAUSTED; ABORTED when the device is lost; FAILED_PRECONDITION when closed
     */
    public void record(MemorySegment words, long count) {
        checkWords(words, count);
        guard.enter();
        NativeScratch scratch = device.scratch.take();
        try {
            scratch.check(VulkanShim.commandsRecord(handle, words.address(), count, scratch.error.address()));
        } finally {
            device.scratch.give(scratch);
            guard.exit();
            Reference.reachabilityFence(words);
        }
    }

    /**
     * Changes the bindings of a dispatch recorded with {@link VulkanWords#MODE_SETS}, for subsequent submissions. Where
     * the device cannot change descriptors of recorded commands ({@link
     * VulkanFeature#STORAGE_BUFFER_UPDATE_AFTER_BIND}), the next submission records the commands again, natively.
     *
     * @param dispatchOrdinal number of the dispatch among all dispatches of the recording, indirect ones included
     * @param words (buffer, offset, range) for each binding, in native memory; read during the call only
     * @throws IreeException FAILED_PRECONDITION when there is no such dispatch, or when closed; INVALID_ARGUMENT or
     *     OUT_OF_RANGE for unsuitable bindings; ABORTED when the device is lost
     */
    public void bind(int dispatchOrdinal, MemorySegment words) {
        long count = words.byteSize() / Long.BYTES;
        checkWords(words, count);
        guard.enter();
        NativeScratch scratch = device.scratch.take();
        try {
            scratch.check(
                    VulkanShim.commandsBind(handle, dispatchOrdinal, words.address(), count, scratch.error.address()));
        } finally {
            device.scratch.give(scratch);
            guard.exit();
            Reference.reachabilityFence(words);
        }
    }

    /** Checks that some words are readable by native code. */
    static void checkWords(MemorySegment words, long count) {
        if (!words.isNative() || words.address() % Long.BYTES != 0) {
            throw IreeException.of(StatusCode.INVALID_ARGUMENT, "words for Vulkan are not in aligned native memory");
        }
        if (!words.scope().isAlive()) {
            throw IreeException.of(StatusCode.FAILED_PRECONDITION, "words for Vulkan are in memory that is closed");
        }
        if (count < 0 || count > words.byteSize() / Long.BYTES) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "%d words for Vulkan in memory of %d bytes".formatted(count, words.byteSize()));
        }
    }

    @Override
    protected String describe() {
        return "commands on " + device.describe();
    }
}

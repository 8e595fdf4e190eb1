package io.github.iree4j.hal;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;

/** Checks of every dispatch before recording. */
final class Dispatches {
    private static final int USAGES = BufferUsage.DISPATCH_STORAGE
            | BufferUsage.DISPATCH_UNIFORM_READ
            | BufferUsage.DISPATCH_IMAGE_READ
            | BufferUsage.DISPATCH_IMAGE_WRITE;

    private static final long CUSTOM_ARGUMENTS = DeviceQueue.DISPATCH_CUSTOM_DIRECT_ARGUMENTS
            | DeviceQueue.DISPATCH_DYNAMIC_INDIRECT_ARGUMENTS
            | DeviceQueue.DISPATCH_STATIC_INDIRECT_ARGUMENTS;

    private Dispatches() {}

    /**
     * Checks the numbers of passed constants and bindings against the declaration of the export.
     *
     * @throws IreeException INVALID_ARGUMENT
     */
    static void checkCounts(ExecutableExport entry, int constants, int bindings) {
        checkCount(entry, "constants", entry.constantCount(), constants, CommandBuffer.MAXIMUM_CONSTANTS);
        checkCount(entry, "bindings", entry.bindingCount(), bindings, CommandBuffer.MAXIMUM_BINDINGS);
    }

    private static void checkCount(ExecutableExport entry, String what, int declared, int passed, int limit) {
        if (declared >= 0 && declared != passed || passed > limit) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "dispatch '%s' passes %d %s, the export takes %s"
                            .formatted(entry.name(), passed, what, declared >= 0 ? declared : "at most " + limit));
        }
    }

    /**
     * Checks for flags with features missing in all backends.
     *
     * @throws IreeException UNIMPLEMENTED
     */
    static void checkFlags(long flags) {
        if ((flags & CUSTOM_ARGUMENTS) != 0) {
            throw IreeException.of(
                    StatusCode.UNIMPLEMENTED,
                    "dispatch flags 0x%x ask for custom arguments".formatted(flags & CUSTOM_ARGUMENTS));
        }
    }

    /**
     * Checks that a buffer is usable by dispatches.
     *
     * @throws IreeException PERMISSION_DENIED
     */
    static void checkUsable(String what, Buffer buffer) {
        if (!isUsable(buffer)) {
            buffer.require(what, MemoryType.DEVICE_VISIBLE, 0, 0);
            throw notUsable(what, buffer);
        }
    }

    /**
     * Returns whether a buffer is usable by dispatches. Code for CPUs does not declare the access of an export to each
     * binding, so any dispatch usage suffices.
     */
    static boolean isUsable(Buffer buffer) {
        return (buffer.usage() & USAGES) != 0 && (buffer.memoryType() & MemoryType.DEVICE_VISIBLE) != 0;
    }

    /** Returns whether a binding is a range of a buffer usable by dispatches, given in full. */
    static boolean isRight(BufferRef binding) {
        Buffer buffer = binding.buffer();
        return buffer != null
                && isUsable(buffer)
                && binding.offset() >= 0
                && binding.length() >= 0
                && binding.offset() <= buffer.length() - binding.length();
    }

    static IreeException notUsable(String what, Buffer buffer) {
        return IreeException.of(
                StatusCode.PERMISSION_DENIED,
                "%s needs a buffer with a usage such as DISPATCH_STORAGE_READ, this one has %s"
                        .formatted(what, BufferUsage.format(buffer.usage())));
    }
}

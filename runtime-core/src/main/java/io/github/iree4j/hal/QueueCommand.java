package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An operation of a queue, as data, for {@link DeviceQueue#submit}. The meaning, and the ranges of values, are with the
 * methods of {@link DeviceQueue} that create commands. A command is only read by the submission, and checked there: creating a command
 * has no effect, and retains nothing.
 */
@NotForApplications
public sealed interface QueueCommand {

    /** A command whose operation differs between backends. */
    @NotForApplications
    sealed interface Work extends QueueCommand {}

    /**
     * As {@link DeviceQueue#dealloca}.
     *
     * @param buffer the buffer to free
     * @param flags dealloca flags
     */
    @NotForApplications
    record Dealloca(Buffer buffer, long flags) implements QueueCommand {}

    /**
     * As {@link DeviceQueue#fill}.
     *
     * @param target the buffer
     * @param offset first byte
     * @param length bytes
     * @param pattern the pattern in the low bytes
     * @param patternLength bytes
     */
    @NotForApplications
    record Fill(Buffer target, long offset, long length, long pattern, int patternLength) implements Work {}

    /**
     * As {@link DeviceQueue#update}.
     *
     * @param source the bytes
     * @param target the buffer
     * @param targetOffset first byte written
     */
    @NotForApplications
    record Update(MemorySegment source, Buffer target, long targetOffset) implements Work {}

    /**
     * As {@link DeviceQueue#copy}.
     *
     * @param source the buffer to read
     * @param sourceOffset first byte read
     * @param target the buffer to write
     * @param targetOffset first byte written
     * @param length bytes
     */
    @NotForApplications
    record Copy(Buffer source, long sourceOffset, Buffer target, long targetOffset, long length) implements Work {}

    /**
     * As {@link DeviceQueue#read}.
     *
     * @param source the file
     * @param sourceOffset first byte read
     * @param target the buffer
     * @param targetOffset first byte written
     * @param length bytes
     */
    @NotForApplications
    record Read(HalFile source, long sourceOffset, Buffer target, long targetOffset, long length) implements Work {}

    /**
     * As {@link DeviceQueue#write}.
     *
     * @param source the buffer
     * @param sourceOffset first byte read
     * @param target the file
     * @param targetOffset first byte written
     * @param length bytes
     */
    @NotForApplications
    record Write(Buffer source, long sourceOffset, HalFile target, long targetOffset, long length) implements Work {}

    /**
     * As {@link DeviceQueue#dispatch}. Two dispatches are equal only with the same array of constants.
     *
     * @param executable the code
     * @param export ordinal of the entry point
     * @param config workgroups
     * @param constants constants, not copied
     * @param bindings the buffers
     * @param flags dispatch flags
     */
    @NotForApplications
    @SuppressWarnings("ArrayRecordComponent") // a copy for each dispatch would be made twice
    record Dispatch(
            Executable executable,
            int export,
            DispatchConfig config,
            int[] constants,
            BindingTable bindings,
            long flags)
            implements Work {}

    /**
     * As {@link DeviceQueue#execute}.
     *
     * @param commands the command buffer
     * @param bindings the buffers of the slots; null without slots
     * @param flags execute flags
     */
    @NotForApplications
    record Execute(CommandBuffer commands, @Nullable BindingTable bindings, long flags) implements Work {}

    /** As {@link DeviceQueue#barrier}. */
    @NotForApplications
    record Barrier() implements QueueCommand {
        static final Barrier INSTANCE = new Barrier();
    }

    /**
     * As {@link DeviceQueue#hostCall}.
     *
     * @param code the code
     * @param flags host call flags
     */
    @NotForApplications
    record Call(HostCall code, long flags) implements QueueCommand {
        /** Refuses null. */
        public Call {
            Objects.requireNonNull(code, "call");
        }
    }

    /**
     * As {@link DeviceQueue#deferredHostCall}.
     *
     * @param code the code
     */
    @NotForApplications
    record DeferredCall(DeferredHostCall code) implements QueueCommand {
        /** Refuses null. */
        public DeferredCall {
            Objects.requireNonNull(code, "call");
        }
    }
}

package io.github.iree4j.hal.vulkan;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.hal.record.RecordedCommandBuffer;
import io.github.iree4j.hal.record.Recording;
import io.github.iree4j.hal.record.RecordingBackend;
import io.github.iree4j.hal.schedule.StoredBuffer;
import io.github.iree4j.nativeaccess.VulkanLimits;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a device makes of the commands of one command buffer: {@link NativeCommands} at the first execution, which later ones use again, with
 * other bindings if need be; executions that overlap have one each.
 */
final class NativeForms implements RecordingBackend {
    /** As a flag of a dispatch: its descriptors are recorded with it, since they never change. */
    private static final int PUSHED = 1;

    /** So many native forms are kept; of executions that overlap beyond that, each makes its own. */
    private static final int KEPT_LIMIT = 8;

    private final VulkanDevice device;
    private final boolean oneShot;
    private final ArrayDeque<NativeCommands> idle = new ArrayDeque<>(); // guarded by itself
    private final NativeCounters counters = new NativeCounters();
    private @Nullable Recording recording; // once it is finished
    private @Nullable VulkanStorage updates; // the same; null for none
    private boolean[] written = new boolean[0]; // the same; by place, see Places

    /**
     * Of a command buffer that is going to be recorded.
     *
     * @param oneShot whether no binding changes from one execution to the next, since there is no next
     */
    private NativeForms(VulkanDevice device, boolean oneShot) {
        this.device = device;
        this.oneShot = oneShot;
    }

    /** Makes a command buffer; the arguments are those of {@link RecordedCommandBuffer}. */
    static RecordedCommandBuffer record(VulkanDevice device, int modes, int categories, int bindingCapacity) {
        NativeForms forms = new NativeForms(device, (modes & CommandBuffer.ONE_SHOT) != 0);
        return new RecordedCommandBuffer(forms, modes, categories, bindingCapacity);
    }

    /** Makes a command buffer for one dispatch. */
    static RecordedCommandBuffer ofDispatch(VulkanDevice device, int bindings) {
        return RecordedCommandBuffer.ofDispatch(new NativeForms(device, true), bindings);
    }

    /** What a device has made of a command buffer that {@link #isOf} says it recorded. */
    static NativeForms of(RecordedCommandBuffer commands) {
        return (NativeForms) commands.backend();
    }

    /** Whether a device recorded a command buffer. */
    static boolean isOf(VulkanDevice device, CommandBuffer commands) {
        return commands instanceof RecordedCommandBuffer recorded
                && recorded.backend() instanceof NativeForms forms
                && forms.device.equals(device);
    }

    VulkanDevice device() {
        return device;
    }

    /** Whether a dispatch has its descriptors recorded with it. */
    static boolean isPushed(Recording recording, int at) {
        return (recording.flags(at) & PUSHED) != 0;
    }

    /** What has been done natively so far. */
    NativeCounters counters() {
        return counters;
    }

    /**
     * Lends a native form for one execution.
     *
     * @param family of the queue
     * @return for {@link #giveBack}; the command buffer is retained meanwhile
     */
    NativeCommands lend(int family) {
        synchronized (idle) {
            for (NativeCommands candidate : idle) {
                if (candidate.family() == family) {
                    idle.remove(candidate);
                    return candidate;
                }
            }
        }
        counters.made();
        CommandsPool pool = device.commands();
        Places places = new Places(device, Objects.requireNonNull(recording), written);
        RecordedCommands fresh = oneShot ? pool.lease(family) : pool.create(family);
        return new NativeCommands(device, recording, places, updates, fresh, oneShot, counters);
    }

    /** Takes a native form back that no hardware uses any more. */
    void giveBack(NativeCommands used) {
        if (!oneShot) {
            synchronized (idle) {
                if (idle.size() < KEPT_LIMIT) {
                    idle.addFirst(used); // what was used last has the bindings that are likely to come
                    return;
                }
            }
        }
        used.close();
    }

    @Override
    public StoredBuffer<?> usable(Buffer buffer) {
        VulkanBuffer.usable(device, "recorded buffer", buffer);
        return (StoredBuffer<?>) buffer.allocatedBuffer();
    }

    @Override
    public void checkDispatch(
            Executable executable, int export, DispatchConfig config, @Nullable BufferRef workgroupCount) {
        if (!(executable instanceof VulkanExecutable own) || !own.isOf(device)) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "executable of format '%s' was not created by device '%s'"
                            .formatted(executable.format(), device.id()));
        }
        ExecutableExport entry = own.export(export);
        checkConfig(entry, config);
        if (workgroupCount == null) {
            VulkanLimits limits = device.properties().limits();
            checkCount(entry, "x", config.workgroupCountX(), limits.maxComputeWorkGroupCountX());
            checkCount(entry, "y", config.workgroupCountY(), limits.maxComputeWorkGroupCountY());
            checkCount(entry, "z", config.workgroupCountZ(), limits.maxComputeWorkGroupCountZ());
        } else if (workgroupCount.offset() % 4 != 0
                || workgroupCount.buffer() != null && workgroupCount.buffer().offset() % 4 != 0) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "workgroup counts of dispatch '%s' at offset %d are not aligned to 4 bytes"
                            .formatted(entry.name(), workgroupCount.offset()));
        }
    }

    private static void checkConfig(ExecutableExport entry, DispatchConfig config) {
        if (config.dynamicLocalMemory() != 0) {
            throw new IreeException(
                    StatusCode.UNIMPLEMENTED,
                    "dispatch '%s' asks for %s bytes of local memory; shaders declare theirs"
                            .formatted(entry.name(), Integer.toUnsignedString(config.dynamicLocalMemory())));
        }
        if (differs(config.workgroupSizeX(), entry.workgroupSizeX())
                || differs(config.workgroupSizeY(), entry.workgroupSizeY())
                || differs(config.workgroupSizeZ(), entry.workgroupSizeZ())) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "dispatch '%s' asks for workgroups of %sx%sx%s, it was compiled for %dx%dx%d"
                            .formatted(
                                    entry.name(),
                                    Integer.toUnsignedString(config.workgroupSizeX()),
                                    Integer.toUnsignedString(config.workgroupSizeY()),
                                    Integer.toUnsignedString(config.workgroupSizeZ()),
                                    entry.workgroupSizeX(),
                                    entry.workgroupSizeY(),
                                    entry.workgroupSizeZ()));
        }
    }

    private static boolean differs(int wanted, int compiled) {
        return wanted != 0 && wanted != compiled;
    }

    private void checkCount(ExecutableExport entry, String dimension, int count, long limit) {
        if (Integer.toUnsignedLong(count) > limit) {
            throw new IreeException(
                    StatusCode.OUT_OF_RANGE,
                    "workgroup count %s of dispatch '%s' is %s, the limit is %d of device '%s'"
                            .formatted(dimension, entry.name(), Integer.toUnsignedString(count), limit, device.id()));
        }
    }

    /** Descriptors that never change are recorded; others are in sets, which change without recording again. */
    @Override
    public int flags(Executable executable, int export, List<BufferRef> bindings) {
        VulkanKernel kernel = ((VulkanExecutable) executable).kernel(export);
        boolean changes = false;
        for (int i = 0; i < bindings.size(); i++) {
            Buffer buffer = bindings.get(i).buffer();
            changes |= buffer == null;
            if (buffer != null && kernel.isWritten(i)) {
                VulkanBuffer.usable(device, "recorded buffer", buffer).checkWritable();
            }
        }
        if (kernel.addresses() != null || !kernel.canPush() || changes && !oneShot) {
            return 0;
        }
        kernel.pushing(); // compiled now, not when a queue's lock is held
        return PUSHED;
    }

    @Override
    public void finished(Recording finished) {
        recording = finished;
        written = Places.written(finished);
        if (finished.updates().byteSize() > 0) {
            VulkanStorage captured = device.commands().upload(finished.updates().byteSize());
            captured.mapped().copyFrom(finished.updates());
            updates = captured;
        }
    }

    @Override
    public void close() {
        synchronized (idle) {
            idle.forEach(NativeCommands::close); // all of them: executions retain the command buffer
            idle.clear();
        }
        if (updates != null) {
            updates.release(Frontier.EMPTY);
        }
    }
}

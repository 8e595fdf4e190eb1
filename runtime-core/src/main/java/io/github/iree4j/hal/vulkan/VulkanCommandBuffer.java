package io.github.iree4j.hal.vulkan;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Commands of a Vulkan device, recorded once as a {@link VulkanRecording}. The hardware gets {@link NativeCommands} made of it at the first
 * execution, which later ones use again, with other bindings if need be; executions that overlap have one each.
 */
final class VulkanCommandBuffer extends CommandBuffer {
    /** So many native forms are kept; of executions that overlap beyond that, each makes its own. */
    private static final int KEPT_LIMIT = 8;

    private final VulkanDevice device;
    private final RecordingBuilder builder;
    private final AtomicBoolean submitted = new AtomicBoolean();
    private @Nullable VulkanRecording recording; // set by finish()
    private @Nullable VulkanStorage updates; // set by finish(); null for none
    private final ArrayDeque<NativeCommands> idle = new ArrayDeque<>(); // guarded by itself
    private final NativeCounters counters = new NativeCounters();

    VulkanCommandBuffer(VulkanDevice device, int modes, int categories, int bindingCapacity) {
        super(modes, categories, bindingCapacity);
        this.device = device;
        this.builder = new RecordingBuilder(device, (modes & ONE_SHOT) != 0);
    }

    /** What was recorded; once it is finished. */
    VulkanRecording recording() {
        return Objects.requireNonNull(recording);
    }

    VulkanDevice device() {
        return device;
    }

    /** What has been done natively so far. */
    NativeCounters counters() {
        return counters;
    }

    /**
     * Notes a submission.
     *
     * @throws IreeException FAILED_PRECONDITION for the second one of a command buffer that may be executed once
     */
    void claimSubmission() {
        if ((modes() & ONE_SHOT) != 0 && !submitted.compareAndSet(false, true)) {
            throw new IreeException(
                    StatusCode.FAILED_PRECONDITION,
                    "one-shot command buffer is submitted a second time; create it without ONE_SHOT to reuse it");
        }
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
        boolean once = (modes() & ONE_SHOT) != 0;
        CommandsPool pool = device.commands();
        return new NativeCommands(
                device, recording(), updates, once ? pool.lease(family) : pool.create(family), once, counters);
    }

    /** Takes a native form back that no hardware uses any more. */
    void giveBack(NativeCommands used) {
        if ((modes() & ONE_SHOT) == 0) {
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
    protected void doFinish() {
        VulkanRecording finished = builder.finish();
        if (finished.updates().length > 0) {
            VulkanStorage captured = device.commands().upload(finished.updates().length);
            captured.mapped().copyFrom(MemorySegment.ofArray(finished.updates()));
            updates = captured;
        }
        recording = finished;
    }

    @Override
    protected void recordBarrier(int sourceStages, int targetStages) {
        builder.endRegion();
    }

    @Override
    protected void recordFill(BufferRef target, long pattern, int patternLength) {
        builder.fill(target, pattern, patternLength);
    }

    @Override
    protected void recordUpdate(MemorySegment source, BufferRef target) {
        builder.update(source, target);
    }

    @Override
    protected void recordCopy(BufferRef source, BufferRef target) {
        builder.copy(source, target);
    }

    @Override
    protected void recordDispatch(
            Executable executable,
            int export,
            DispatchConfig config,
            @Nullable BufferRef workgroupCount,
            int[] constants,
            List<BufferRef> bindings,
            long flags) {
        builder.dispatch(executable, export, config, workgroupCount, constants, bindings);
    }

    @Override
    protected void destroy() {
        synchronized (idle) {
            idle.forEach(NativeCommands::close); // all of them: executions retain this
            idle.clear();
        }
        if (updates != null) {
            updates.release(Frontier.EMPTY);
        }
        builder.release();
    }
}

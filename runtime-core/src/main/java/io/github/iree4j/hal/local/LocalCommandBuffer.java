package io.github.iree4j.hal.local;

import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** Commands of the local device, recorded as a {@link Recording}. */
final class LocalCommandBuffer extends CommandBuffer {
    /** Each is an operation of its own when it is executed. */
    private static final int COLLECTIVES_LIMIT = 1 << 12;

    private final BlockBuilder builder = new BlockBuilder();
    private final List<CollectiveCommand> collectives = new ArrayList<>(); // not in the code
    private final Set<LocalChannel> channels = Collections.newSetFromMap(new IdentityHashMap<>()); // each retained once
    private final AtomicBoolean submitted = new AtomicBoolean();
    private @Nullable Recording recording; // set by finish()

    LocalCommandBuffer(int modes, int categories, int bindingCapacity) {
        super(modes, categories, bindingCapacity);
    }

    /** What was recorded; once it is finished. */
    Recording recording() {
        return Objects.requireNonNull(recording);
    }

    /** Collectives in their order. */
    List<CollectiveCommand> collectives() {
        return collectives;
    }

    /** The channels of the collectives. */
    Set<LocalChannel> channels() {
        return channels;
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

    @Override
    protected void doFinish() {
        recording = builder.finish();
    }

    @Override
    protected void recordBarrier(int sourceStages, int targetStages) {
        // Between two collectives it makes a region without commands, so that they do not run at once.
        builder.endRegion(!collectives.isEmpty() && collectives.getLast().position() == builder.openRegion());
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
    protected void recordCollective(
            Channel channel,
            Collective operation,
            int parameter,
            @Nullable BufferRef source,
            @Nullable BufferRef target,
            long elementCount) {
        if (!(channel instanceof LocalChannel local)) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT, "channel was not created by the device of the command buffer");
        }
        if (collectives.size() >= COLLECTIVES_LIMIT) {
            throw new IreeException(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "command buffer holds %d collectives, the limit; record several".formatted(COLLECTIVES_LIMIT));
        }
        builder.use(source);
        builder.use(target);
        builder.endRegion(false);
        if (channels.add(local)) {
            local.retain();
        }
        collectives.add(
                new CollectiveCommand(builder.openRegion(), local, operation, parameter, source, target, elementCount));
    }

    @Override
    protected void destroy() {
        builder.release();
        channels.forEach(LocalChannel::release);
    }
}

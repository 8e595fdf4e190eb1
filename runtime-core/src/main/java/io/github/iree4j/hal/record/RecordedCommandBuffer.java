package io.github.iree4j.hal.record;

import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.QueueCommand;
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

/** Commands recorded as a {@link Recording}, for any device with a backend reading recordings. */
public final class RecordedCommandBuffer extends CommandBuffer {
    /** Each collective is a separate operation when executed. */
    private static final int COLLECTIVES_LIMIT = 1 << 12;

    private static final int NO_PEER = 0xFFFF; // half of Collective.peers

    private final RecordingBackend backend;
    private @Nullable RecordingBuilder builder; // null once finished
    private final List<CollectiveCommand> collectives = new ArrayList<>(0); // not in the code
    private final AtomicBoolean submitted = new AtomicBoolean();
    private @Nullable Set<Channel> channels; // each retained once; null for none
    private @Nullable Recording recording; // set by finish()

    /**
     * Begins recording.
     *
     * @param backend consulted during recording, and notified of the end
     * @param modes mode bits
     * @param categories category bits
     * @param bindingCapacity number of slots
     */
    public RecordedCommandBuffer(RecordingBackend backend, int modes, int categories, int bindingCapacity) {
        super(modes, categories, bindingCapacity);
        this.backend = backend;
        this.builder = RecordingBuilder.begin(backend);
    }

    /**
     * Begins recording a dispatch with bindings from a table.
     *
     * @param backend as above
     * @param bindings number of bindings
     * @return a command buffer for {@link #recordDispatchOfSlots}
     */
    public static RecordedCommandBuffer ofDispatch(RecordingBackend backend, int bindings) {
        return new RecordedCommandBuffer(backend, ONE_SHOT, DISPATCH, bindings);
    }

    /**
     * Records a dispatch with the slots, in order, as bindings, and ends recording.
     *
     * @param dispatch the dispatch; its bindings are not read
     * @throws IreeException as {@link #dispatch}
     */
    public void recordDispatchOfSlots(QueueCommand.Dispatch dispatch) {
        List<BufferRef> slots = new ArrayList<>(bindingCapacity());
        for (int i = 0; i < bindingCapacity(); i++) {
            slots.add(BufferRef.slot(i, 0, Buffer.WHOLE));
        }
        dispatch(
                dispatch.executable(),
                dispatch.export(),
                dispatch.config(),
                dispatch.constants(),
                slots,
                dispatch.flags());
        finish();
    }

    /**
     * Returns the recording; only once recording is finished.
     *
     * @return the recording, valid until this command buffer is closed
     */
    public Recording recording() {
        return Objects.requireNonNull(recording);
    }

    /**
     * Returns the backend's part.
     *
     * @return the backend passed at creation
     */
    public RecordingBackend backend() {
        return backend;
    }

    /**
     * Returns the collectives.
     *
     * @return in the order of recording
     */
    public List<CollectiveCommand> collectives() {
        return collectives;
    }

    /**
     * Claims a submission.
     *
     * @throws IreeException FAILED_PRECONDITION for the second submission of a command buffer that may be executed once
     */
    public void claimSubmission() {
        if ((modes() & ONE_SHOT) != 0 && !submitted.compareAndSet(false, true)) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    "one-shot command buffer is submitted a second time; create it without ONE_SHOT to reuse it");
        }
    }

    /**
     * Retains the commands and the contents of the used slots, for a later execution.
     *
     * @param table a table accepted by {@link #checkSubmission}
     * @return a copy of the table, for {@link #releaseBindings}; null for null
     * @throws IreeException FAILED_PRECONDITION when a needed object is closed; then nothing is retained
     */
    public @Nullable BindingTable retainBindings(@Nullable BindingTable table) {
        retain();
        if (table == null) {
            return null;
        }
        BindingTable own = table.copy();
        int[] slots = recording().slots();
        int retained = 0;
        try {
            for (int slot : slots) {
                if (own.buffer(slot) instanceof Buffer buffer) {
                    buffer.retain();
                }
                retained++;
            }
        } catch (IreeException e) {
            release(own, retained);
            release();
            throw e;
        }
        return own;
    }

    /**
     * Reverses {@link #retainBindings}.
     *
     * @param own the table returned by {@link #retainBindings}
     */
    public void releaseBindings(@Nullable BindingTable own) {
        if (own != null) {
            release(own, recording().slots().length);
        }
        release();
    }

    private void release(BindingTable own, int count) {
        for (int i = 0; i < count; i++) {
            if (own.buffer(recording().slots()[i]) instanceof Buffer buffer) {
                buffer.release();
            }
        }
    }

    @Override
    protected void doFinish() {
        Recording finished = builder().finish();
        backend.finished(finished);
        recording = finished;
        builder().handOver();
        builder = null;
    }

    private RecordingBuilder builder() {
        return Objects.requireNonNull(builder);
    }

    @Override
    protected void recordBarrier(int sourceStages, int targetStages) {
        // Between two collectives this creates an empty region, so that the collectives do not run concurrently.
        builder()
                .endRegion(!collectives.isEmpty()
                        && collectives.getLast().position() == builder().openRegion());
    }

    @Override
    protected void recordFill(BufferRef target, long pattern, int patternLength) {
        builder().fill(target, pattern, patternLength);
    }

    @Override
    protected void recordUpdate(MemorySegment source, BufferRef target) {
        builder().update(source, target);
    }

    @Override
    protected void recordCopy(BufferRef source, BufferRef target) {
        builder().copy(source, target);
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
        builder().dispatch(executable, export, config, workgroupCount, constants, bindings);
    }

    @Override
    protected void recordCollective(
            Channel channel,
            Collective operation,
            int parameter,
            @Nullable BufferRef source,
            @Nullable BufferRef target,
            long elementCount) {
        backend.checkChannel(channel);
        backend.checkCollective(operation);
        if (collectives.size() >= COLLECTIVES_LIMIT) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "command buffer holds %d collectives, the limit; record several".formatted(COLLECTIVES_LIMIT));
        }
        builder().use(source);
        builder().use(target);
        builder().endRegion(false);
        if (channels == null) {
            channels = Collections.newSetFromMap(new IdentityHashMap<>());
        }
        if (!channels.contains(channel)) {
            channel.retain();
            channels.add(channel);
        }
        collectives.add(new CollectiveCommand(
                builder().openRegion(), channel, operation, parameter, source, target, elementCount));
        if (target != null && operation.kind() == Collective.SEND_RECV && parameter >>> 16 == NO_PEER) {
            builder().fill(target, 0, 1); // behind the collective, where the same bytes may be sent
        }
    }

    @Override
    protected boolean isCopiedOnWrite(Buffer buffer) {
        // Commands between collectives are submitted by any thread, for no call.
        return collectives.isEmpty() && backend.isCopiedOnWrite(buffer);
    }

    @Override
    protected void destroy() {
        backend.close();
        if (recording != null) {
            recording.release();
        } else {
            builder().abandon();
        }
        if (channels != null) {
            channels.forEach(Channel::release);
        }
    }
}

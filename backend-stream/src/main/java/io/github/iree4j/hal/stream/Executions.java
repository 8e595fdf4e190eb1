package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.collective.CollectiveExecution;
import io.github.iree4j.hal.record.RecordedCommandBuffer;
import io.github.iree4j.hal.schedule.DispatchingOperation;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The operations of a queue that run dispatches. */
final class Executions {
    private Executions() {}

    /** Executes a command buffer. */
    static StreamOperation execute(StreamQueue queue, CommandBuffer commands, @Nullable BindingTable bindings) {
        StreamDevice device = queue.streamDevice();
        if (!RecordedForms.isOf(device, commands)) {
            throw IreeException.of(StatusCode.INVALID_ARGUMENT, "command buffer was not created by " + device);
        }
        return new Execution(StreamOperation.EXECUTE, queue, (RecordedCommandBuffer) commands, bindings);
    }

    /**
     * Runs a dispatch.
     *
     * @param commands recorded for this dispatch; closed by the caller after the submission
     */
    static StreamOperation dispatch(StreamQueue queue, RecordedCommandBuffer commands, BindingTable bindings) {
        return new Execution(StreamOperation.DISPATCH, queue, commands, bindings);
    }

    /**
     * Executes the commands between two collectives.
     *
     * @param bindings checked when the whole command buffer was submitted
     */
    static StreamOperation segment(
            StreamQueue queue,
            RecordedCommandBuffer commands,
            @Nullable BindingTable bindings,
            CollectiveExecution.Segment segment) {
        return new Execution(queue, commands, bindings, segment);
    }

    /*
     * STREAM-5: native commands, and the buffers used by the commands, belong to an execution from submission until the
     * operation is complete and the hardware is done with the commands, whichever comes last: `holders` counts these
     * two.
     */
    private static final class Execution extends StreamOperation implements StreamWork, DispatchingOperation {
        private final Lane lane;
        private final @Nullable Object context;
        private final RecordedCommandBuffer commands;
        private final RecordedForms.Part part;
        private final CollectiveExecution.@Nullable Segment segment;
        private @Nullable BindingTable bindings;
        private @Nullable BoundForm lent; // form lent for the execution while the operation is retained
        private @Nullable DriverCommands prepared;
        private final AtomicInteger holders = new AtomicInteger(1);

        Execution(String name, StreamQueue queue, RecordedCommandBuffer commands, @Nullable BindingTable bindings) {
            super(name);
            this.lane = queue.lane();
            this.context = lane.context();
            this.commands = commands;
            this.segment = null;
            this.bindings = bindings;
            commands.checkSubmission(bindings);
            this.part = RecordedForms.of(commands).whole();
            check(queue, commands, bindings);
            commands.claimSubmission();
        }

        Execution(
                StreamQueue queue,
                RecordedCommandBuffer commands,
                @Nullable BindingTable bindings,
                CollectiveExecution.Segment segment) {
            super(EXECUTE);
            this.lane = queue.lane();
            this.context = lane.context();
            this.commands = commands;
            this.part = RecordedForms.of(commands).part(segment.firstRegion(), segment.endRegion());
            this.segment = segment;
            this.bindings = bindings;
            check(queue, commands, bindings);
        }

        private static void check(StreamQueue queue, RecordedCommandBuffer commands, @Nullable BindingTable bindings) {
            for (int slot : commands.recording().slots()) {
                if (bindings != null && bindings.buffer(slot) instanceof Buffer buffer) {
                    StreamBuffer.usable(queue.streamDevice(), "bound buffer", buffer);
                }
            }
            if (commands.recording().dispatches()) {
                queue.checkComputes();
            }
        }

        @Override
        protected void failed(IreeException cause) {
            if (segment != null) {
                segment.failed();
            }
        }

        @Override
        public boolean hasDispatches() {
            return part.recording.dispatches();
        }

        @Override
        public boolean timesDispatches() {
            return false; // the hardware runs them, and reports the end of the whole
        }

        @Override
        public void forEachDispatch(Visitor visitor) {
            part.recording.forEachDispatch(0, part.recording.regionCount(), visitor);
        }

        private boolean isEmpty() {
            return part.recording.commands().length == 0;
        }

        @Override
        protected void retain() {
            BindingTable own = commands.retainBindings(bindings);
            try {
                lent = isEmpty() ? null : part.lend(lane);
                if (lent != null) {
                    lent.claim(call(), own);
                }
            } catch (RuntimeException | Error e) {
                giveBack();
                commands.releaseBindings(own);
                throw e;
            }
            bindings = own;
        }

        private void giveBack() {
            BoundForm own = lent;
            if (own != null) {
                lent = null;
                own.over();
                part.giveBack(own);
            }
        }

        private BoundForm lent() {
            BoundForm own = lent;
            if (own == null) {
                throw new IllegalStateException("execution is issued without being retained");
            }
            return own;
        }

        @Override
        protected void placed() {
            if (!isEmpty()) {
                lent().resolve(this, bindings);
            }
        }

        @Override
        @Nullable
        StreamWork prepare() {
            IreeException cause = stopCause();
            if (cause != null) {
                throw cause;
            }
            if (isEmpty()) {
                return null;
            }
            prepared = lent().prepare(name());
            holders.incrementAndGet();
            return this;
        }

        @Override
        public DriverCommands commands() {
            DriverCommands ready = prepared;
            if (ready == null) {
                throw new IllegalStateException("execution is submitted without being prepared");
            }
            return ready;
        }

        @Override
        public @Nullable Object context() {
            return context;
        }

        @Override
        public void over() {
            drop();
        }

        @Override
        protected void release() {
            drop();
            if (segment != null) {
                segment.ended();
            }
        }

        private void drop() {
            if (holders.decrementAndGet() != 0) {
                return;
            }
            giveBack();
            commands.releaseBindings(bindings);
        }
    }
}

package io.github.iree4j.hal.local;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.collective.CollectiveExecution;
import io.github.iree4j.hal.record.RecordedCommandBuffer;
import io.github.iree4j.hal.record.Recording;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.schedule.QueueScheduler;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Execution of a command buffer with collectives on the CPU: the last participant moves and reduces the elements of all participants. */
final class LocalCollectives extends CollectiveExecution {
    private final CallerRunners callerRunners;

    LocalCollectives(
            QueueScheduler scheduler,
            RecordedCommandBuffer commands,
            @Nullable BindingTable bindings,
            CallerRunners callerRunners) {
        super(scheduler, commands, bindings);
        this.callerRunners = callerRunners;
    }

    @Override
    protected MemorySegment pin(Buffer buffer, long offset, long length, Frontier before, List<Runnable> unpin) {
        LocalBuffer local = LocalBuffer.of(buffer);
        MemorySegment bytes = local.pin().segment;
        unpin.add(local::unpin);
        return bytes.asSlice(buffer.offset() + offset, length);
    }

    @Override
    protected QueueOperation operation(Segment segment) {
        return new Commands(segment);
    }

    /** Commands between two collectives. The execution retains their resources. */
    private final class Commands extends CommandOperation {
        private final Segment segment;

        Commands(Segment segment) {
            super(EXECUTE, callerRunners);
            this.segment = segment;
        }

        @Override
        Recording recording() {
            return commands().recording();
        }

        @Override
        int firstRegion() {
            return segment.firstRegion();
        }

        @Override
        int endRegion() {
            return segment.endRegion();
        }

        @Override
        @Nullable
        BindingTable bindings() {
            return LocalCollectives.this.bindings();
        }

        @Override
        protected void retain() {}

        @Override
        protected void failed(IreeException cause) {
            segment.failed();
        }

        @Override
        protected void release() {
            segment.ended();
        }
    }
}

package io.github.iree4j.hal.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.record.CollectiveCommand;
import io.github.iree4j.hal.record.RecordedCommandBuffer;
import io.github.iree4j.hal.schedule.FifoBackend;
import io.github.iree4j.hal.schedule.Issue;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.schedule.QueueScheduler;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * An execution with collectives that begin behind commands of the hardware, before the host learns of the end of these.
 */
class CollectiveExecutionTest {
    private static final Collective SUM = Collective.of(Collective.ALL_REDUCE, Collective.SUM, Collective.S32);

    private static final int FULL = 0x3F; // all stages

    private static final IreeException CAUSE = IreeException.of(StatusCode.UNAVAILABLE, "a participant is gone");

    /** A stream that waits for foreign work by itself. */
    private static final class Stream implements FifoBackend {
        @Override
        public boolean issue(Issue next) {
            return true;
        }

        @Override
        public boolean canWaitFor(FifoBackend producer, long epoch) {
            return true;
        }

        @Override
        public boolean canWaitForExternal(Object primitive) {
            return true;
        }
    }

    /** A collective under way. */
    private record Started(Consumer<Object> issued, BiConsumer<@Nullable IreeException, Frontier> then) {}

    private static final class Execution extends CollectiveExecution {
        private final List<Started> started = new ArrayList<>();
        private Runnable making = () -> {}; // runs while an operation is being made

        Execution(QueueScheduler scheduler, RecordedCommandBuffer commands) {
            super(scheduler, commands, null);
        }

        @Override
        protected QueueOperation operation(Segment segment) {
            making.run();
            return new QueueOperation("segment") {
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
            };
        }

        @Override
        protected MemorySegment pin(Buffer buffer, long offset, long length, Frontier before, List<Runnable> unpin) {
            return MemorySegment.ofArray(new int[1]);
        }

        @Override
        protected void whenDue(TimelineSemaphore timeline, long value, Consumer<@Nullable IreeException> then) {
            timeline.whenPromised(value, (promised, failure) -> then.accept(failure));
        }

        @Override
        protected CollectiveArrival arrival(
                Frontier before,
                CollectiveCommand command,
                @Nullable MemorySegment source,
                @Nullable MemorySegment target,
                Runnable unpin,
                Consumer<Object> issued,
                BiConsumer<@Nullable IreeException, Frontier> then) {
            started.add(new Started(issued, then));
            return new CollectiveArrival(before, command, source, target, unpin, (failure, frontier) -> {});
        }
    }

    @Test
    void endOfACollectiveKnownBeforeTheEndOfTheCommandsInFrontWaitsForThem() {
        try (VirtualDevice device = VirtualDevice.builder().build();
                Channel channel = device.createChannel(0, 0, 1);
                Buffer buffer = device.allocator().allocate(BufferParams.DEFAULT, 64);
                TimelineSemaphore timeline = TimelineSemaphore.create(0);
                Fence done = Fence.at(timeline, 1);
                CommandBuffer commands = device.createCommandBuffer(0, 3, -1, 0)) {
            for (int i = 0; i < 2; i++) {
                commands.fillBuffer(BufferRef.of(buffer), 7, 4, 0);
                commands.executionBarrier(FULL, FULL, 0);
                commands.collective(channel, SUM, 0, BufferRef.of(buffer), BufferRef.of(buffer), 1);
                commands.executionBarrier(FULL, FULL, 0);
            }
            commands.fillBuffer(BufferRef.of(buffer), 9, 4, 0);
            commands.finish();
            QueueScheduler scheduler = QueueScheduler.create(device.schedulingDomain(), device, device, new Stream());
            Execution execution = new Execution(scheduler, (RecordedCommandBuffer) commands);

            execution.submit(null, done);
            execution.started.get(0).issued().accept(new Object());
            assertThat(execution.started)
                    .as("the second is behind issued commands")
                    .hasSize(2);
            execution.started.get(1).issued().accept(new Object());
            scheduler.completedUpTo(1);
            execution.started.get(0).then().accept(null, Frontier.EMPTY);
            execution.started.get(1).then().accept(null, Frontier.EMPTY);
            assertThat(done.failure()).isEmpty();
            scheduler.completedUpTo(3);
            assertThat(done.failure()).isEmpty();
            assertThat(done.isReached()).isTrue();
            assertThatCode(() -> ((GroupChannel) channel).group().collective(0)).doesNotThrowAnyException();
            scheduler.close();
        }
    }

    /** A fill, a collective with an end promised once the arrival is issued, and a fill behind the collective. */
    private static CommandBuffer oneCollective(VirtualDevice device, Channel channel, Buffer buffer) {
        CommandBuffer commands = device.createCommandBuffer(0, 3, -1, 0);
        commands.fillBuffer(BufferRef.of(buffer), 7, 4, 0);
        commands.executionBarrier(FULL, FULL, 0);
        commands.collective(channel, SUM, 0, BufferRef.of(buffer), BufferRef.of(buffer), 1);
        commands.executionBarrier(FULL, FULL, 0);
        commands.fillBuffer(BufferRef.of(buffer), 9, 4, 0);
        commands.finish();
        return commands;
    }

    // GROUP-2
    @Test
    void aFailureDuringTheSubmissionOfTheLastCommandsFailsTheirFence() {
        try (VirtualDevice device = VirtualDevice.builder().build();
                Channel channel = device.createChannel(0, 0, 1);
                Buffer buffer = device.allocator().allocate(BufferParams.DEFAULT, 64);
                TimelineSemaphore timeline = TimelineSemaphore.create(0);
                Fence done = Fence.at(timeline, 1)) {
            QueueScheduler scheduler = QueueScheduler.create(device.schedulingDomain(), device, device, new Stream());
            RecordedCommandBuffer commands = (RecordedCommandBuffer) oneCollective(device, channel, buffer);
            Execution execution = new Execution(scheduler, commands);
            execution.submit(null, done);
            commands.close();
            scheduler.completedUpTo(1);
            Started collective = execution.started.getFirst();
            execution.making = () -> {
                collective.then().accept(CAUSE, Frontier.EMPTY);
                assertThat(done.failure())
                        .as("the operation is the one to end it")
                        .isEmpty();
                assertThat(commands.isLive()).as("the operation uses them").isTrue();
            };
            collective.issued().accept(new Object());
            assertThat(done.failure()).containsSame(CAUSE);
            assertThat(commands.isLive()).isFalse();
            assertThat(scheduler.counters().failed()).isEqualTo(1);
            assertThat(scheduler.counters().inFlight()).isZero();
            scheduler.close();
        }
    }

    // GROUP-2
    @Test
    void aFailureAnywhereInTheSubmissionOfTheLastCommandsFailsTheirFence() throws Exception {
        try (VirtualDevice device = VirtualDevice.builder().build();
                Buffer buffer = device.allocator().allocate(BufferParams.DEFAULT, 64)) {
            for (int round = Effort.rounds(2000); round > 0; round--) {
                try (Channel channel = device.createChannel(0, 0, 1);
                        TimelineSemaphore timeline = TimelineSemaphore.create(0);
                        Fence done = Fence.at(timeline, 1)) {
                    QueueScheduler scheduler =
                            QueueScheduler.create(device.schedulingDomain(), device, device, new Stream());
                    CommandBuffer commands = oneCollective(device, channel, buffer);
                    Execution execution = new Execution(scheduler, (RecordedCommandBuffer) commands);
                    execution.submit(null, done);
                    commands.close();
                    scheduler.completedUpTo(1);
                    Started collective = execution.started.getFirst();
                    CyclicBarrier both = new CyclicBarrier(2);
                    Thread issuing = Thread.ofPlatform().start(() -> {
                        meet(both);
                        collective.issued().accept(new Object());
                    });
                    meet(both);
                    collective.then().accept(CAUSE, Frontier.EMPTY);
                    issuing.join();
                    scheduler.completedUpTo(2); // if it came to that
                    assertThat(done.failure()).as("round %d", round).containsSame(CAUSE);
                    scheduler.close();
                }
            }
        }
    }

    private static void meet(CyclicBarrier both) {
        try {
            both.await();
        } catch (InterruptedException | BrokenBarrierException e) {
            throw new AssertionError(e);
        }
    }
}

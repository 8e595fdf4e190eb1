package io.github.iree4j.hal.local;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.record.CollectiveCommand;
import io.github.iree4j.hal.record.RecordedCommandBuffer;
import io.github.iree4j.hal.record.Recording;
import io.github.iree4j.hal.schedule.OperationParts;
import io.github.iree4j.hal.schedule.QueueScheduler;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The execution of a command buffer with collectives. Its commands are cut at the collectives into segments, each an operation of the
 * queue like any other; so a queue is free while a collective waits for other participants, and no thread blocks.
 *
 * <p>Its own timeline orders the pieces: segment i signals 2i + 1, the collectives behind it 2i + 2. Collectives with
 * nothing between them start together and are one step. The fence of the submission is signalled at the end with the frontier of the
 * last piece: by that piece itself when it is a segment. To the counters of the queue all of it is one operation.
 */
final class CollectiveExecution {
    private static final Logger LOG = LoggerFactory.getLogger(CollectiveExecution.class);

    private final QueueScheduler scheduler;
    private final OperationParts parts;
    private final RecordedCommandBuffer commands;
    private final Operations.Execute whole; // retains the resources
    private final CallerRunners guests;
    private final @Nullable Fence signal;
    private final List<CollectiveCommand> collectives;
    private final List<List<Meetings.Ticket>> tickets = new ArrayList<>(); // of each collective
    private final TimelineSemaphore timeline = TimelineSemaphore.create(0);
    private final List<Fence> fences = new ArrayList<>(); // of the timeline; guarded by itself
    private final AtomicBoolean over = new AtomicBoolean();
    private final AtomicBoolean gone = new AtomicBoolean();
    private volatile boolean handedOver; // the signal fence, to the last segment

    // While the submitting thread is in submit(), a failure that no fence carries is thrown there.
    private volatile @Nullable Thread submitter;
    private volatile @Nullable IreeException thrown;

    private CollectiveExecution(
            QueueScheduler scheduler,
            OperationParts parts,
            RecordedCommandBuffer commands,
            Operations.Execute whole,
            CallerRunners guests,
            @Nullable Fence signal) {
        this.scheduler = scheduler;
        this.parts = parts;
        this.commands = commands;
        this.whole = whole;
        this.guests = guests;
        this.signal = signal;
        this.collectives = commands.collectives();
    }

    /**
     * Submits a command buffer with collectives. A failure fails its channels.
     *
     * @throws IreeException without a signal fence, for errors found now; FAILED_PRECONDITION when that fence is closed
     */
    static void submit(
            QueueScheduler scheduler,
            @Nullable Fence wait,
            @Nullable Fence signal,
            RecordedCommandBuffer commands,
            @Nullable BindingTable bindings,
            CallerRunners guests) {
        if (signal != null && !signal.isLive()) {
            throw new IreeException(StatusCode.FAILED_PRECONDITION, "signal fence is closed");
        }
        CollectiveExecution execution;
        OperationParts parts = null;
        try {
            parts = scheduler.beginParts(signal);
            Operations.Execute whole = new Operations.Execute(commands, bindings, guests);
            whole.retain();
            try {
                if (signal != null) {
                    signal.retain();
                }
            } catch (IreeException e) {
                whole.release();
                throw e;
            }
            execution = new CollectiveExecution(scheduler, parts, commands, whole, guests, signal);
        } catch (IreeException e) {
            if (parts != null) {
                parts.end(true);
            }
            failChannels(commands, e);
            if (signal == null) {
                throw e;
            }
            signal.fail(e);
            return;
        }
        execution.start(wait);
    }

    private void start(@Nullable Fence wait) {
        submitter = Thread.currentThread();
        try {
            // In the order of submission, regardless of the order of execution.
            for (CollectiveCommand each : collectives) {
                tickets.add(tickets(each));
            }
            segment(0, 0, wait);
        } catch (IreeException e) {
            end(e, Frontier.EMPTY);
        }
        submitter = null;
        IreeException failure = thrown;
        if (failure != null) {
            throw failure;
        }
    }

    private static List<Meetings.Ticket> tickets(CollectiveCommand command) {
        ChannelGroup group = channel(command).group();
        int rank = command.channel().rank();
        int parameter = command.parameter();
        return switch (command.operation().kind()) {
            case Collective.SEND -> List.of(group.transfer(rank, parameter, true));
            case Collective.RECV -> List.of(group.transfer(parameter, rank, false));
            case Collective.SEND_RECV -> {
                List<Meetings.Ticket> both = new ArrayList<>(2);
                if (command.source() != null) {
                    both.add(group.transfer(rank, parameter & 0xFFFF, true));
                }
                if (receives(command)) {
                    both.add(group.transfer(parameter >>> 16, rank, false));
                }
                yield both;
            }
            default -> List.of(group.collective(rank));
        };
    }

    /** Recording has checked the owner of the channel. */
    private static LocalChannel channel(CollectiveCommand command) {
        return (LocalChannel) command.channel();
    }

    private static boolean receives(CollectiveCommand sendReceive) {
        return sendReceive.parameter() >>> 16 != (Collective.peers(0, -1) >>> 16);
    }

    /** Runs the commands before a collective, or after the last. */
    private void segment(int index, int collective, @Nullable Fence wait) {
        int from = collective == 0 ? 0 : collectives.get(collective - 1).position();
        boolean last = collective == collectives.size();
        int to = last
                ? commands.recording().regionCount()
                : collectives.get(collective).position();
        long done = 2L * index + 1;
        Fence signalled = keep(Fence.at(timeline, done));
        if (last && signal != null) {
            // On a stream it is then promised: others can wait for it on the device. The caller's points come first:
            // end()
            // releases them.
            handedOver = true;
            signalled = keep(Objects.requireNonNull(Fence.join(List.of(signal, signalled))));
        }
        timeline.whenReached(done, (value, failure) -> {
            if (failure != null) {
                end(failure, Frontier.EMPTY);
            } else if (last) {
                end(null, frontier(done));
            } else {
                guarded(() -> meet(index, collective));
            }
        });
        IreeException refused = parts.submit(wait, signalled, () -> new Segment(from, to, last));
        if (refused != null) {
            end(refused, Frontier.EMPTY);
        }
    }

    private void guarded(Runnable step) {
        try {
            step.run();
        } catch (IreeException e) {
            end(e, Frontier.EMPTY);
        } catch (RuntimeException | Error e) {
            end(new IreeException(StatusCode.INTERNAL, "collective failed: " + e, e), Frontier.EMPTY);
        }
    }

    private Frontier frontier(long value) {
        Frontier found = timeline.frontierAt(value);
        return found == null ? Frontier.UNKNOWN : found;
    }

    /** Arrives at all collectives that stand at one position. */
    private void meet(int index, int first) {
        int position = collectives.get(first).position();
        int end = first;
        int meetings = 0;
        while (end < collectives.size() && collectives.get(end).position() == position) {
            meetings += tickets.get(end++).size();
        }
        Frontier before = frontier(2L * index + 1);
        int next = end;
        Step step = new Step(meetings + 1, outcome -> proceed(index, next, outcome == null ? before : outcome));
        for (int i = first; i < end; i++) {
            arrive(collectives.get(i), tickets.get(i), before, step);
        }
        step.one(null, null); // after all have been counted
    }

    /** Waits for several meetings. */
    private final class Step {
        private final Consumer<@Nullable Frontier> then;
        private int left; // guarded by this, like the next
        private @Nullable Frontier gathered;

        Step(int count, Consumer<@Nullable Frontier> then) {
            this.left = count;
            this.then = then;
        }

        void one(@Nullable IreeException failure, @Nullable Frontier outcome) {
            if (failure != null) {
                end(failure, Frontier.EMPTY);
                return;
            }
            Frontier all;
            synchronized (this) {
                if (outcome != null) {
                    // Outcomes of one channel are one entry. Each includes what happened before.
                    gathered = gathered == null ? outcome : gathered.merge(outcome);
                }
                if (--left > 0) {
                    return;
                }
                all = gathered;
            }
            guarded(() -> then.accept(all));
        }
    }

    private void proceed(int index, int next, Frontier outcome) {
        long done = 2L * index + 2;
        if (next == collectives.size()
                && collectives.getLast().position() == commands.recording().regionCount()) {
            end(null, outcome);
            return;
        }
        timeline.signal(done, outcome);
        segment(index + 1, next, keep(Fence.at(timeline, done)));
    }

    private Fence keep(Fence fence) {
        synchronized (fences) {
            fences.add(fence);
        }
        return fence;
    }

    private void arrive(CollectiveCommand command, List<Meetings.Ticket> admitted, Frontier before, Step step) {
        if (command.operation().kind() == Collective.SEND_RECV && !receives(command)) {
            List<LocalBuffer> pins = new ArrayList<>(1);
            try {
                Objects.requireNonNull(pin(command.target(), pins)).fill((byte) 0);
            } finally {
                pins.forEach(LocalBuffer::unpin);
            }
        }
        for (Meetings.Ticket ticket : admitted) {
            boolean all = ticket.meeting().sequence.kind == Meetings.Kind.COLLECTIVE;
            List<LocalBuffer> pins = new ArrayList<>(2);
            CollectiveArrival arrival;
            try {
                arrival = new CollectiveArrival(
                        before,
                        command,
                        all || ticket.party() == 0 ? pin(command.source(), pins) : null,
                        all || ticket.party() == 1 ? pin(command.target(), pins) : null,
                        () -> pins.forEach(LocalBuffer::unpin),
                        step::one);
            } catch (RuntimeException | Error e) {
                pins.forEach(LocalBuffer::unpin);
                throw e;
            }
            channel(command).group().arrive(ticket, arrival);
        }
    }

    /** The bytes of a range, valid until they are unpinned. */
    private @Nullable MemorySegment pin(@Nullable BufferRef ref, List<LocalBuffer> pins) {
        if (ref == null) {
            return null;
        }
        Buffer buffer = ref.buffer();
        long offset = ref.offset();
        if (buffer == null) {
            BindingTable table = Objects.requireNonNull(whole.bindings()); // checked at submission
            buffer = Objects.requireNonNull(table.buffer(ref.slot()));
            offset += table.offset(ref.slot());
        }
        LocalBuffer local = LocalBuffer.of(buffer);
        MemorySegment bytes = local.pin().segment;
        pins.add(local);
        return bytes.asSlice(buffer.offset() + offset, ref.length());
    }

    /** Called once: releases everything, and signals. */
    private void end(@Nullable IreeException failure, Frontier outcome) {
        if (!over.compareAndSet(false, true)) {
            return;
        }
        if (failure != null) {
            timeline.fail(failure);
            failChannels(commands, failure);
        }
        letGo(failure != null);
        synchronized (fences) {
            fences.forEach(Fence::close);
        }
        timeline.close();
        if (signal != null) {
            if (handedOver) {
                // the last segment has signalled it, or failed it
            } else if (failure == null) {
                signal.signalOrFail(outcome);
            } else {
                signal.fail(failure);
            }
            signal.release();
        } else if (failure != null) {
            if (Thread.currentThread().equals(submitter)) {
                thrown = failure;
            } else {
                LOG.error("execute with collectives and without a signal fence failed on {}", scheduler, failure);
            }
        }
    }

    /** Called once, before anything is signalled: releases the resources. */
    private void letGo(boolean failed) {
        if (gone.compareAndSet(false, true)) {
            whole.release();
            parts.end(failed);
        }
    }

    private static void failChannels(RecordedCommandBuffer commands, IreeException cause) {
        for (CollectiveCommand each : commands.collectives()) {
            channel(each).fail(cause); // idempotent for several collectives of one channel
        }
    }

    /** The commands between two collectives. The execution retains what it uses. */
    private final class Segment extends CommandOperation {
        private final int from;
        private final int to;
        private final boolean last;
        private boolean failed; // written by the thread that ends it

        Segment(int from, int to, boolean last) {
            super("execute", guests);
            this.from = from;
            this.to = to;
            this.last = last;
        }

        @Override
        Recording recording() {
            return commands.recording();
        }

        @Override
        int firstRegion() {
            return from;
        }

        @Override
        int endRegion() {
            return to;
        }

        @Override
        @Nullable
        BindingTable bindings() {
            return whole.bindings();
        }

        @Override
        protected void retain() {}

        @Override
        protected void failed(IreeException cause) {
            failed = true;
        }

        @Override
        protected void release() {
            if (last) {
                letGo(failed);
            }
        }
    }
}

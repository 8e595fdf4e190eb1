package io.github.iree4j.hal.collective;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.record.CollectiveCommand;
import io.github.iree4j.hal.record.RecordedCommandBuffer;
import io.github.iree4j.hal.schedule.OperationParts;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.schedule.QueueScheduler;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The execution of a command buffer with collectives. The commands are cut at the collectives into segments, each an
 * operation of the queue like any other. So a queue is free while a collective waits for other participants, and no
 * thread blocks.
 *
 * <p>A separate timeline orders the pieces: segment i signals 2i + 1, the collectives behind segment i signal 2i + 2.
 * Collectives with nothing in between start together as a step. The fence of the submission is signalled at the
 * end with the frontier of the last piece, and by that piece if the last piece is a segment. To the counters of the
 * queue the whole execution is a single operation.
 */
public abstract class CollectiveExecution {
    /*
     * GROUP-2: the fence of the submission ends once. end(), callable by any thread, moves to OVER and signals or fails
     *          the fence, unless the thread submitting the last segment has moved to HANDED_OVER before: then the last
     *          segment ends the fence and releases the resources. A failure reaches the last segment through the
     *          timeline. The fences belong to the submitting thread, so end() does not close them.
     */
    private enum State {
        RUNNING,
        HANDED_OVER,
        OVER
    }

    private static final Logger LOG = LoggerFactory.getLogger(CollectiveExecution.class);

    private final QueueScheduler scheduler;
    private final RecordedCommandBuffer commands;
    private @Nullable BindingTable bindings; // retained, like the commands, from submit() to letGo()
    private @Nullable OperationParts parts; // from submit() on, like the next field
    private @Nullable Fence signal;
    private final List<CollectiveCommand> collectives;
    private final List<List<Meetings.Ticket>> tickets = new ArrayList<>(); // of each collective
    private final TimelineSemaphore timeline = TimelineSemaphore.create(0);
    private final AtomicReference<State> state = new AtomicReference<>(State.RUNNING);
    private final AtomicBoolean gone = new AtomicBoolean();
    // number of steps of collectives followed by the next segment before the end of the step
    private volatile int promised;

    // While the submitting thread is in submit(), a failure not carried by a fence is thrown there.
    private volatile @Nullable Thread submitter;
    private volatile @Nullable IreeException thrown;

    /**
     * Creates an execution.
     *
     * @param scheduler of the queue
     * @param commands a command buffer with collectives
     * @param bindings the contents of the slots; null for none
     */
    protected CollectiveExecution(
            QueueScheduler scheduler, RecordedCommandBuffer commands, @Nullable BindingTable bindings) {
        this.scheduler = scheduler;
        this.commands = commands;
        this.bindings = bindings;
        this.collectives = commands.collectives();
    }

    /**
     * Makes the operation that runs some regions of the commands. The operation calls {@link Segment#ended} and
     * {@link Segment#failed}.
     *
     * @param segment the regions to run, notified of the end
     * @return the operation, without a need to retain commands and bindings
     */
    protected abstract QueueOperation operation(Segment segment);

    /**
     * Finds the memory of a range for a collective.
     *
     * @param buffer the buffer, retained
     * @param offset first byte of the buffer
     * @param length bytes
     * @param before predecessors
     * @param unpin receives the end of the use of the memory, also when this call fails
     * @return the bytes, as required by {@link CollectiveArrival}
     */
    protected abstract MemorySegment pin(
            Buffer buffer, long offset, long length, Frontier before, List<Runnable> unpin);

    /**
     * Calls back when collectives may begin to meet: the segment before has completed, or, on a device where
     * collectives can wait for the segment, is certain to complete.
     *
     * @param timeline the timeline of the pieces
     * @param value the value signalled by the segment
     * @param then receives the failure, or null; on any thread. A failure may follow null
     */
    protected void whenDue(TimelineSemaphore timeline, long value, Consumer<@Nullable IreeException> then) {
        timeline.whenReached(value, (reached, failure) -> then.accept(failure));
    }

    /**
     * Makes an arrival at a collective.
     *
     * @param before predecessors; produced by the preceding segment, if that segment is certain to end but has not
     *     ended
     * @param command the collective
     * @param source bytes to send; null for nothing
     * @param target target of the received bytes; null for none
     * @param unpin ends the use of both
     * @param issued may be called once with a primitive for {@link TimelineSemaphore#promiseExternal} when the
     *     collective is certain to end, and before {@code then}
     * @param then notified of the outcome
     * @return the arrival
     */
    protected CollectiveArrival arrival(
            Frontier before,
            CollectiveCommand command,
            @Nullable MemorySegment source,
            @Nullable MemorySegment target,
            Runnable unpin,
            Consumer<Object> issued,
            BiConsumer<@Nullable IreeException, Frontier> then) {
        return new CollectiveArrival(before, command, source, target, unpin, then);
    }

    /**
     * Returns the commands.
     *
     * @return the commands, with collectives
     */
    protected final RecordedCommandBuffer commands() {
        return commands;
    }

    /**
     * Returns the contents of the slots.
     *
     * @return the retained contents; null for none
     */
    protected final @Nullable BindingTable bindings() {
        return bindings;
    }

    private OperationParts parts() {
        return Objects.requireNonNull(parts);
    }

    /**
     * Submits the execution. A failure fails the channels of the commands.
     *
     * @param wait points to wait for; null for none
     * @param signalled points to signal; null for none
     * @throws IreeException without a signal fence, for errors found now; FAILED_PRECONDITION when the signal fence is
     *     closed
     */
    public final void submit(@Nullable Fence wait, @Nullable Fence signalled) {
        if (signalled != null && !signalled.isLive()) {
            throw IreeException.of(StatusCode.FAILED_PRECONDITION, "signal fence is closed");
        }
        OperationParts own = null;
        try {
            own = scheduler.beginParts(signalled);
            commands.checkSubmission(bindings);
            commands.claimSubmission();
            BindingTable retained = commands.retainBindings(bindings);
            try {
                if (signalled != null) {
                    signalled.retain();
                }
            } catch (IreeException e) {
                commands.releaseBindings(retained);
                throw e;
            }
            bindings = retained;
            parts = own;
            signal = signalled;
        } catch (IreeException e) {
            timeline.close();
            if (own != null) {
                own.end(true);
            }
            failChannels(e);
            if (signalled == null) {
                throw e;
            }
            signalled.fail(e);
            return;
        }
        start(wait);
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
    private static GroupChannel channel(CollectiveCommand command) {
        return (GroupChannel) command.channel();
    }

    private static boolean receives(CollectiveCommand sendReceive) {
        return sendReceive.parameter() >>> 16 != (Collective.peers(0, -1) >>> 16);
    }

    /** Runs the commands before a collective, or after the last collective. */
    private void segment(int index, int collective, @Nullable Fence wait) {
        int from = collective == 0 ? 0 : collectives.get(collective - 1).position();
        boolean last = collective == collectives.size();
        int to = last
                ? commands.recording().regionCount()
                : collectives.get(collective).position();
        long done = 2L * index + 1;
        try (Fence own = Fence.at(timeline, done);
                Fence joined = last && signal != null ? Fence.join(signal, own) : null) {
            // On a stream the segment is promised then: others can wait for the segment on the device. The points of
            // the caller come first: end() releases them.
            if (joined != null && !state.compareAndSet(State.RUNNING, State.HANDED_OVER)) { // GROUP-2
                return;
            }
            watch(index, collective, done, last);
            boolean taken = false;
            IreeException refused;
            try {
                refused = parts().submit(
                                wait, joined != null ? joined : own, () -> operation(new Segment(from, to, last)));
                taken = refused == null;
            } finally {
                if (last && !taken) {
                    letGo(true);
                }
            }
            if (refused != null) {
                end(refused, Frontier.EMPTY);
            }
        }
    }

    /** Continues once a segment allows. */
    private void watch(int index, int collective, long done, boolean last) {
        if (last) {
            timeline.whenReached(done, (value, failure) -> {
                end(failure, failure == null ? frontier(done) : Frontier.EMPTY);
            });
        } else {
            whenDue(timeline, done, failure -> {
                if (failure != null) {
                    end(failure, Frontier.EMPTY);
                } else {
                    guarded(() -> meet(index, collective));
                }
            });
        }
    }

    private void guarded(Runnable step) {
        try {
            step.run();
        } catch (IreeException e) {
            end(e, Frontier.EMPTY);
        } catch (RuntimeException | Error e) {
            end(IreeException.of(StatusCode.INTERNAL, "collective failed: " + e, e), Frontier.EMPTY);
        }
    }

    private Frontier frontier(long value) {
        Frontier found = timeline.frontierAt(value);
        return found == null ? Frontier.UNKNOWN : found;
    }

    /** Arrives at all collectives of a position. */
    private void meet(int index, int first) {
        int position = collectives.get(first).position();
        Map<ChannelGroup, Meeting> groups = new LinkedHashMap<>();
        int end = first;
        int meetings = 0;
        while (end < collectives.size() && collectives.get(end).position() == position) {
            meetings += tickets.get(end++).size();
        }
        Frontier before = frontier(2L * index + 1);
        Step step = new Step(index, end, meetings, before);
        try {
            for (int i = first; i < end; i++) {
                CollectiveCommand each = collectives.get(i);
                Meeting own = groups.computeIfAbsent(channel(each).group(), group -> new Meeting());
                addArrivals(each, tickets.get(i), before, step, own);
            }
        } catch (RuntimeException | Error e) {
            groups.values().forEach(own -> own.arrivals.forEach(CollectiveArrival::withdraw));
            throw e;
        }
        step.inOneGroup = groups.size() == 1;
        groups.forEach((group, own) -> group.arrive(own.admitted, own.arrivals));
        step.one(null, null); // after all have been counted
    }

    /** Arrivals at a group. */
    private static final class Meeting {
        final List<Meetings.Ticket> admitted = new ArrayList<>();
        final List<CollectiveArrival> arrivals = new ArrayList<>();
    }

    /** Waits for several meetings. */
    private final class Step {
        private final int index;
        private final int next;
        private boolean inOneGroup; // written before any arrival
        private int left; // guarded by this, like the next fields
        private int unissued;
        private @Nullable Frontier gathered;
        private final Frontier before;

        Step(int index, int next, int meetings, Frontier before) {
            this.index = index;
            this.next = next;
            this.left = meetings + 1;
            this.unissued = meetings;
            this.before = before;
        }

        /** Records that a meeting is certain to end. Meetings of one group are issued in order: a wait for the last is a wait for all. */
        void issued(Object primitive) {
            synchronized (this) {
                if (--unissued > 0) {
                    return;
                }
            }
            if (inOneGroup && !isTail(next) && state.get() != State.OVER) {
                guarded(() -> {
                    if (timeline.promiseExternal(2L * index + 2, primitive)) {
                        promised = index + 1;
                        continueAfter(index, next);
                    }
                });
            }
        }

        void one(@Nullable IreeException failure, @Nullable Frontier outcome) {
            if (failure != null) {
                end(failure, Frontier.EMPTY);
                return;
            }
            Frontier all;
            synchronized (this) {
                if (outcome != null) {
                    // Outcomes of one channel are one entry. Each outcome includes the predecessors.
                    gathered = gathered == null ? outcome : gathered.merge(outcome);
                }
                if (--left > 0) {
                    return;
                }
                all = gathered == null ? before : gathered;
            }
            // The host may learn of the outcome before learning of the preceding commands, already run by the hardware.
            timeline.whenReached(2L * index + 1, (value, behind) -> {
                if (behind != null) {
                    end(behind, Frontier.EMPTY);
                } else {
                    guarded(() -> proceed(index, next, all));
                }
            });
        }
    }

    private boolean isTail(int next) {
        return next == collectives.size()
                && collectives.getLast().position() == commands.recording().regionCount();
    }

    private void proceed(int index, int next, Frontier outcome) {
        if (isTail(next)) {
            end(null, outcome);
            return;
        }
        timeline.signal(2L * index + 2, outcome);
        if (promised <= index) { // else submitted already
            continueAfter(index, next);
        }
    }

    private void continueAfter(int index, int next) {
        try (Fence wait = Fence.at(timeline, 2L * index + 2)) {
            segment(index + 1, next, wait);
        }
    }

    private void addArrivals(
            CollectiveCommand command, List<Meetings.Ticket> admitted, Frontier before, Step step, Meeting own) {
        boolean pair = command.operation().kind() == Collective.SEND_RECV;
        for (int i = 0; i < admitted.size(); i++) {
            boolean sends = !pair || i == 0 && command.source() != null;
            List<Runnable> pins = new ArrayList<>(2);
            Runnable unpin = () -> pins.forEach(Runnable::run);
            try {
                own.arrivals.add(arrival(
                        before,
                        command,
                        sends ? pin(command.source(), before, pins) : null,
                        !pair || !sends ? pin(command.target(), before, pins) : null,
                        unpin,
                        step::issued,
                        step::one));
            } catch (RuntimeException | Error e) {
                unpin.run();
                throw e;
            }
            own.admitted.add(admitted.get(i));
        }
    }

    /** Returns the bytes of a range, valid until unpinned. */
    private @Nullable MemorySegment pin(@Nullable BufferRef ref, Frontier before, List<Runnable> pins) {
        if (ref == null) {
            return null;
        }
        Buffer buffer = ref.buffer();
        long offset = ref.offset();
        if (buffer == null) {
            BindingTable table = Objects.requireNonNull(bindings); // checked at submission
            buffer = Objects.requireNonNull(table.buffer(ref.slot()));
            offset += table.offset(ref.slot());
        }
        return pin(buffer, offset, ref.length(), before, pins);
    }

    /** Releases everything, and signals; only the first call has an effect. */
    private void end(@Nullable IreeException failure, Frontier outcome) {
        State before = state.getAndSet(State.OVER);
        if (before == State.OVER) {
            return;
        }
        if (failure != null) {
            timeline.fail(failure);
            failChannels(failure);
        }
        if (before != State.HANDED_OVER) { // else used by the last segment
            letGo(failure != null);
        }
        timeline.close();
        if (signal != null) {
            if (before == State.HANDED_OVER) { // GROUP-2
                // the last segment signals or fails the fence
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

    /** Releases the resources; called once, before any signal. */
    private void letGo(boolean failed) {
        if (gone.compareAndSet(false, true)) {
            commands.releaseBindings(bindings);
            parts().end(failed);
        }
    }

    private void failChannels(IreeException cause) {
        for (CollectiveCommand each : commands.collectives()) {
            channel(each).fail(cause); // idempotent for several collectives of one channel
        }
    }

    /** The commands between two collectives. The execution retains the objects used by the commands. */
    public final class Segment {
        private final int from;
        private final int to;
        private final boolean last;
        private boolean failed; // written by the ending thread

        Segment(int from, int to, boolean last) {
            this.from = from;
            this.to = to;
            this.last = last;
        }

        /**
         * Returns the first region of the segment.
         *
         * @return number of the region
         */
        public int firstRegion() {
            return from;
        }

        /**
         * Returns the region after the last region of the segment.
         *
         * @return number of the region
         */
        public int endRegion() {
            return to;
        }

        /** Notes that the operation has failed. */
        public void failed() {
            failed = true;
        }

        /** Notes that the operation is released. Called once, before the signals of the operation. */
        public void ended() {
            if (last) {
                letGo(failed);
            }
        }
    }
}

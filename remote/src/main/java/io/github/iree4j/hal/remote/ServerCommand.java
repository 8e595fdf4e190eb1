package io.github.iree4j.hal.remote;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.QueueCommand;
import io.github.iree4j.hal.stream.RunRequests;
import io.github.iree4j.status.DeviceLostException;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A command of a client: points to wait for, and steps. Each step is an operation of a queue of this node waiting for
 * the previous step, so a failure ends the rest. Few steps are submitted ahead of the running step: when the session
 * fails, the other steps are never submitted.
 */
final class ServerCommand {
    /** Limit on the steps submitted and not ended: a single step runs, and a queue needs the next steps early. */
    static final int STEPS_AHEAD = 4;

    private final long sequence;
    private final long epoch;
    private long weight;
    private final List<Supplier<? extends QueueCommand>> steps = new ArrayList<>(1);
    private final List<ServerObject> used = new ArrayList<>(); // retained until the end
    private final List<AutoCloseable> owned = new ArrayList<>(0); // closed at the end
    private final List<TimelineSemaphore> waits = new ArrayList<>(0); // each awaited for value 1
    private final List<LanePoint> points = new ArrayList<>(0); // of the waits
    private final List<FetchFile> fetches = new ArrayList<>(0);
    private final List<Fence> fences = new ArrayList<>();
    private final AtomicBoolean started = new AtomicBoolean(); // whether the command was started, or abandoned before
    private final AtomicBoolean over = new AtomicBoolean();
    private @Nullable IreeException refused; // cause of an end without a step
    private volatile @Nullable IreeException abandoned; // cause of submitting no more steps
    private @Nullable TraceParent trace;
    private @Nullable CommandSpan span;
    private int kind; // of the first step, or execute
    private boolean changes;

    /**
     * Creates a command without steps.
     *
     * @param bytes bytes of the frame
     */
    ServerCommand(long sequence, long epoch, int bytes) {
        this.sequence = sequence;
        this.epoch = epoch;
        this.weight = bytes;
    }

    /** Records the submitter's span, or null. */
    void trace(@Nullable TraceParent parent) {
        trace = parent;
    }

    long sequence() {
        return sequence;
    }

    long epoch() {
        return epoch;
    }

    /** Returns the approximate memory of the command: the frame, and objects made from the frame. Constant once the command is read. */
    long weight() {
        return weight;
    }

    /** Adds the bytes of an object made from the frame. */
    void weigh(long bytes) {
        weight += bytes;
    }

    /** Whether the command does more than return present data: results of accepted work may be read while the node drains. */
    boolean isNewWork() {
        return changes;
    }

    /** Whether the command only returns present data. */
    boolean isReading() {
        return !changes && !steps.isEmpty();
    }

    /**
     * Adds a step.
     *
     * @param kind as numbered in {@link Step}
     * @param step makes the operation, once all objects used are made
     */
    void add(int kind, Supplier<? extends QueueCommand> step) {
        changes |= kind != Step.DOWNLOAD;
        this.kind = steps.isEmpty() || kind == Step.EXECUTE ? kind : this.kind;
        steps.add(step);
        weigh(RecordedCommands.COMMAND_BYTES);
    }

    ServerObject use(ServerObject object) {
        used.add(object);
        return object;
    }

    <T extends AutoCloseable> T own(T object) {
        owned.add(object);
        return object;
    }

    /** Adds bytes of another node, copied by a step. */
    FetchFile fetch(FetchFile file) {
        fetches.add(file);
        return own(file);
    }

    /** Adds a point whose signal a node has accepted or will accept: the result reaches 1 when the point is reached. */
    TimelineSemaphore addWait(LanePoint point) {
        TimelineSemaphore wait = TimelineSemaphore.create(0);
        wait.setName(point);
        points.add(point);
        wait.promiseExternal(1, point); // otherwise the submitter appears to have forgotten the signal
        waits.add(wait);
        return wait;
    }

    /** Records the failure of an accepted command: the command will end with the failure in its turn. */
    void refuse(IreeException cause) {
        refused = refused == null ? cause : refused;
    }

    /** Returns whether all objects used by the command are settled; if not, the action runs after a change. */
    boolean isReadyOrThen(Runnable action) {
        for (ServerObject each : used) {
            if (!each.isSettledOrThen(action)) {
                return false;
            }
        }
        return true;
    }

    void start(DeviceQueue queue, ServerLane lane) {
        if (!started.compareAndSet(false, true)) {
            return;
        }
        IreeException failure = refused;
        for (ServerObject each : used) {
            failure = failure == null ? each.failure() : failure;
        }
        Fence wait = null;
        if (!waits.isEmpty()) {
            wait = fence(Fence.of(
                    waits.stream().map(each -> new Fence.Entry(each, 1)).toList()));
        }
        CommandSpan traced = steps.isEmpty() ? null : span(queue, lane);
        span = traced;
        if (failure != null) {
            steps.clear();
        } else if (!points.isEmpty()) {
            fetches.forEach(each -> each.askAhead(points));
        }
        if (steps.isEmpty() && wait != null) {
            steps.add(QueueCommand.Barrier::new);
        }
        Run run = new Run(queue, lane, wait, failure == null ? null : ofClosedDevice(queue, failure));
        for (TimelineSemaphore each : waits) { // all waits, even if one fails
            each.whenReached(1, (_, ended) -> {
                if (traced != null) {
                    traced.reached();
                }
                run.over(1, ended);
            });
        }
        if (traced != null) {
            traced.reached();
        }
        run.submit();
    }

    /** Returns the span beginning after the waits and an additional call; null where nothing traces the command. */
    private @Nullable CommandSpan span(DeviceQueue queue, ServerLane lane) {
        TraceParent parent = trace;
        NodeIdentity peer = lane.client();
        RemoteTracer tracer = lane.tracer();
        if (parent == null || peer == null || tracer.equals(RemoteTracer.NONE)) {
            return null;
        }
        RemoteWork work = new RemoteWork(
                parent, peer, queue.device().id(), queue.index(), Step.name(kind), steps.size(), lane.axis(), epoch);
        return new CommandSpan(tracer, work, waits.size() + 1);
    }

    private static TimelineSemaphore semaphore(Device device) {
        try {
            return device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
        } catch (IreeException e) { // closed meanwhile: the command ends anyway
            TimelineSemaphore failed = TimelineSemaphore.create(0);
            failed.fail(e);
            return failed;
        }
    }

    /**
     * Submits the steps, and counts everything that has to end before the command: the waits, even where a step has
     * failed independently, since later commands may rely on the waits; each step, since a later step may fail while an
     * earlier step runs; and the submission.
     */
    private final class Run {
        private final DeviceQueue queue;
        private final ServerLane lane;
        private final AtomicInteger left;
        private final AtomicInteger ended = new AtomicInteger(); // number of steps that have ended
        private final AtomicReference<@Nullable IreeException> failure;
        private final RunRequests submissions = new RunRequests();

        // Owned by the submitting thread.
        private int submitted;
        private @Nullable Fence wait;

        private volatile @Nullable TimelineSemaphore last;

        Run(DeviceQueue queue, ServerLane lane, @Nullable Fence wait, @Nullable IreeException failure) {
            this.queue = queue;
            this.lane = lane;
            this.wait = wait;
            this.left = new AtomicInteger(waits.size() + steps.size() + 1);
            this.failure = new AtomicReference<>(failure);
        }

        /** Submits the due steps. A single thread at a time, so steps ending at once do not nest. */
        void submit() {
            if (!submissions.ask()) {
                return;
            }
            do {
                while (submitted <= steps.size() && submitted - ended.get() < STEPS_AHEAD) {
                    IreeException cause = abandoned != null ? abandoned : failure.get();
                    if (cause != null || submitted == steps.size()) {
                        int rest = steps.size() - submitted + 1;
                        submitted = steps.size() + 1;
                        over(rest, cause);
                    } else {
                        submitNext();
                    }
                }
            } while (submissions.again());
        }

        private void submitNext() {
            int step = submitted++;
            TimelineSemaphore done = own(semaphore(queue.device()));
            last = done;
            Fence signal = fence(Fence.at(done, 1));
            try {
                queue.submit(wait, signal, steps.get(step).get());
            } catch (IreeException e) {
                done.fail(e);
            } catch (RuntimeException | Error e) { // the client must not hang
                done.fail(IreeException.of(StatusCode.INTERNAL, "step %d failed: %s".formatted(step, e), e));
            }
            wait = signal;
            done.whenReached(1, (_, cause) -> {
                ended.incrementAndGet();
                over(1, cause);
                submit();
            });
        }

        void over(int parts, @Nullable IreeException cause) {
            if (cause != null) {
                failure.compareAndSet(null, ofClosedDevice(queue, cause));
            }
            if (left.addAndGet(-parts) == 0) {
                TimelineSemaphore end = last;
                Frontier frontier = end == null || failure.get() != null ? null : end.frontierAt(1);
                end(lane, failure.get(), frontier == null ? Frontier.EMPTY : frontier);
            }
        }
    }

    /** The client has not closed the device of this node, and may use another node. */
    private static IreeException ofClosedDevice(DeviceQueue queue, IreeException cause) {
        boolean isOfClosing = cause.code() == StatusCode.FAILED_PRECONDITION || cause.code() == StatusCode.ABORTED;
        return isOfClosing
                        && queue.device()
                                .failure()
                                .filter(each -> !(each instanceof DeviceLostException))
                                .isPresent()
                ? IreeException.of(StatusCode.UNAVAILABLE, cause.getMessage() + ": the node stops", cause)
                : cause;
    }

    private Fence fence(Fence fence) {
        fences.add(fence);
        return fence;
    }

    private void end(ServerLane lane, @Nullable IreeException failure, Frontier frontier) {
        IreeException cause = failure;
        for (ServerObject each : used) { // REMOTE-10
            IreeException refused = each.reportWrites();
            cause = cause == null ? refused : cause;
        }
        release();
        CommandSpan traced = span;
        if (traced != null) {
            traced.ended(cause);
        }
        lane.ended(this, cause, cause == null ? frontier : Frontier.EMPTY);
    }

    /**
     * Abandons the command after the failure of the session: waits for other nodes and copies from them fail, other
     * running steps continue without a report, the other steps do not begin.
     */
    void abandon(IreeException cause) {
        abandoned = cause;
        waits.forEach(each -> each.fail(cause));
        fetches.forEach(each -> each.abandon(cause));
        if (started.compareAndSet(false, true)) {
            release();
        }
    }

    private void release() {
        if (!over.compareAndSet(false, true)) {
            return;
        }
        fences.forEach(Fence::close);
        waits.forEach(TimelineSemaphore::close);
        used.forEach(ServerObject::release);
        for (AutoCloseable each : owned) {
            try {
                each.close();
            } catch (Exception e) {
                throw new IllegalStateException(e); // resources of the runtime throw none
            }
        }
    }
}

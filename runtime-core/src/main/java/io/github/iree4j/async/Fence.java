package io.github.iree4j.async;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.status.WaitTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A set of points, each a timeline and a value: reached when each timeline is at or beyond its value, failed once any
 * timeline has failed.
 *
 * <p>Work can wait for a fence and can signal a fence. Where a fence is nullable, null means "already reached". A fence
 * holds one reference to each of its semaphores until it is freed. Immutable and safe from any thread.
 */
public final class Fence extends Resource {
    /*
     * Nearly every fence has a single point, and a call creates several fences: the first point is inline in the
     * object, any others are in arrays.
     */
    private final TimelineSemaphore firstSemaphore;
    private final long firstValue;
    private final @Nullable Others others;

    /** The points from the second on, in parallel arrays. */
    private record Others(TimelineSemaphore[] semaphores, long[] values) {}

    /** Takes over the references to the semaphores. */
    private Fence(TimelineSemaphore firstSemaphore, long firstValue, @Nullable Others others) {
        this.firstSemaphore = firstSemaphore;
        this.firstValue = firstValue;
        this.others = others;
    }

    private Fence retainingAll() {
        for (int i = 0; i < size(); i++) {
            try {
                semaphore(i).retain();
            } catch (IreeException e) {
                for (int j = 0; j < i; j++) {
                    semaphore(j).release();
                }
                throw e;
            }
        }
        return this;
    }

    /**
     * A point of a fence.
     *
     * @param semaphore the timeline
     * @param value the value waited for or signalled
     */
    @NotForApplications
    public record Entry(TimelineSemaphore semaphore, long value) {}

    /**
     * Creates a fence at a single point.
     *
     * @param semaphore the timeline; retained
     * @param value the value waited for or signalled
     * @return the fence; the caller closes it
     */
    public static Fence at(TimelineSemaphore semaphore, long value) {
        semaphore.retain();
        return new Fence(semaphore, value, null);
    }

    /**
     * Creates a fence at a single point of a timeline and takes ownership of the timeline, for example where there is
     * no other signaller.
     *
     * @param semaphore the timeline; the caller's reference passes to the fence
     * @param value the value waited for or signalled
     * @return the fence; the caller closes it
     */
    public static Fence adopt(TimelineSemaphore semaphore, long value) {
        return new Fence(semaphore, value, null);
    }

    /**
     * Creates a fence at several points; of two points on the same timeline the greater remains.
     *
     * @param entries the points, at least one
     * @return the fence; the caller closes it
     */
    public static Fence of(List<Entry> entries) {
        if (entries.isEmpty()) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT, "a fence needs at least one point; use null for 'already reached'");
        }
        Merge merge = new Merge(entries.size());
        for (Entry entry : entries) {
            merge.add(entry.semaphore(), entry.value());
        }
        return merge.toFence();
    }

    /**
     * Joins fences: reached when all are. Of two points on the same timeline the greater remains.
     *
     * @param first a fence
     * @param others further fences
     * @return the new fence; the caller closes it
     */
    public static Fence join(Fence first, Fence... others) {
        List<Fence> all = new ArrayList<>(List.of(others));
        all.addFirst(first);
        return Objects.requireNonNull(joinNullable(all));
    }

    /**
     * Joins fences as {@link #join}, where null is a fence reached already.
     *
     * @param fences the fences
     * @return the new fence, which the caller closes, or null when there is nothing to wait for
     */
    @NotForApplications
    public static @Nullable Fence joinNullable(List<? extends @Nullable Fence> fences) {
        int capacity = 0;
        for (Fence fence : fences) {
            capacity += fence == null ? 0 : fence.size();
        }
        if (capacity == 0) {
            return null;
        }
        Merge merge = new Merge(capacity);
        for (Fence fence : fences) {
            if (fence != null) {
                for (int i = 0; i < fence.size(); i++) {
                    merge.add(fence.semaphore(i), fence.value(i));
                }
            }
        }
        return merge.toFence();
    }

    /**
     * Returns the points.
     *
     * @return a new list; semaphores are borrowed
     */
    public List<Entry> entries() {
        List<Entry> entries = new ArrayList<>(size());
        for (int i = 0; i < size(); i++) {
            entries.add(new Entry(semaphore(i), value(i)));
        }
        return entries;
    }

    /**
     * Returns the number of points, each on a different timeline.
     *
     * @return at least one
     */
    @NotForApplications
    public int size() {
        return others == null ? 1 : 1 + others.values.length;
    }

    /**
     * Returns the timeline of a point. Together with {@link #value(int)}, reads a fence without allocating.
     *
     * @param index the point, 0 to {@link #size()} - 1
     * @return the timeline, borrowed
     */
    public TimelineSemaphore semaphore(int index) {
        if (others == null) {
            Objects.checkIndex(index, 1);
            return firstSemaphore;
        }
        return index == 0 ? firstSemaphore : others.semaphores[index - 1];
    }

    /**
     * Returns the value of a point.
     *
     * @param index the point, 0 to {@link #size()} - 1
     * @return the value waited for or signalled
     */
    @NotForApplications
    public long value(int index) {
        if (others == null) {
            Objects.checkIndex(index, 1);
            return firstValue;
        }
        return index == 0 ? firstValue : others.values[index - 1];
    }

    /**
     * Returns whether every point is reached and none of the timelines has failed.
     *
     * @return true if a wait would succeed at once
     */
    public boolean isReached() {
        for (int i = 0; i < size(); i++) {
            if (!semaphore(i).isReached(value(i))) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns the first failure among the timelines.
     *
     * @return the failure; empty when none has failed
     */
    public Optional<IreeException> failure() {
        for (int i = 0; i < size(); i++) {
            IreeException failure = semaphore(i).failure();
            if (failure != null) {
                return Optional.of(failure);
            }
        }
        return Optional.empty();
    }

    /**
     * Returns the fence's state as a status code.
     *
     * @return OK when reached, DEFERRED when not yet, else the code of the failure
     */
    public StatusCode query() {
        Optional<IreeException> failure = failure();
        if (failure.isPresent()) {
            return failure.get().code();
        }
        return isReached() ? StatusCode.OK : StatusCode.DEFERRED;
    }

    /**
     * Promises the signals of an issued operation at every point, see {@link TimelineSemaphore#promise}. Skips points
     * not taking a promise because they are reached, promised already or failed: signalling such a point reports the
     * error.
     *
     * @param frontier the operation's frontier; it has a producer
     * @throws IreeException INVALID_ARGUMENT when the frontier has no producer, or a value is above
     *     {@link TimelineSemaphore#MAXIMUM_VALUE}
     */
    public void promise(Frontier frontier) {
        for (int i = 0; i < size(); i++) {
            semaphore(i).promise(value(i), frontier);
        }
    }

    /**
     * Returns whether something on the host waits for any of the points.
     *
     * @return true if signalling would call or wake something now
     */
    @NotForApplications
    public boolean isAwaited() {
        for (int i = 0; i < size(); i++) {
            if (semaphore(i).isAwaited(value(i))) {
                return true;
            }
        }
        return false;
    }

    /**
     * Counts another signaller of every point, as one event, see {@link TimelineSemaphore#addSignaller}: a point with
     * several signallers is reached by the last. Changes nothing on failure.
     *
     * @throws IreeException INVALID_ARGUMENT when a point is reached or promised already; FAILED_PRECONDITION when the
     *     fence is closed
     */
    @NotForApplications
    public void addSignaller() {
        checkLive();
        if (others == null) {
            firstSemaphore.addSignaller(firstValue);
            return;
        }
        IreeException refusal = FenceEvent.addSignaller(this);
        if (refusal != null) {
            throw refusal;
        }
    }

    /**
     * Signals every point, as one event: a thread seeing any point reached sees all of them reached, and waiters are
     * called when all are. A point that cannot be signalled does not prevent the others from being signalled.
     *
     * @throws IreeException of the first point that could not be signalled: INVALID_ARGUMENT when its timeline is
     *     already there, else the timeline's failure; FAILED_PRECONDITION when the fence is closed
     */
    public void signal() {
        checkLive();
        if (others == null) {
            firstSemaphore.signal(firstValue);
            return;
        }
        IreeException refusal = FenceEvent.signal(this, Frontier.EMPTY);
        if (refusal != null) {
            throw refusal;
        }
    }

    /**
     * Fails every timeline that has not failed yet, as one event.
     *
     * @param cause the cause of the failure
     */
    public void fail(IreeException cause) {
        // No checkLive(): a concurrent close must not prevent the failure from reaching the timelines.
        if (others == null) {
            firstSemaphore.fail(cause);
        } else {
            FenceEvent.fail(this, cause);
        }
    }

    /**
     * Signals every point as {@link #signalOrFail(Frontier)} does with an empty frontier.
     *
     * @return the points that refused
     */
    public List<Entry> signalOrFail() {
        return signalOrFail(Frontier.EMPTY);
    }

    /**
     * Signals every point, as one event. A timeline refusing because it is already there fails with this error, so its
     * waiters do not mistake the earlier signal for this signal. For code executing work without a caller to throw to.
     *
     * @param frontier the history before: the frontier of the signalling operation
     * @return the points that refused, because the timeline had reached the value or had failed; empty if every point was
     *     signalled
     */
    public List<Entry> signalOrFail(Frontier frontier) {
        if (others != null) {
            return FenceEvent.signalOrFail(this, frontier);
        }
        try {
            firstSemaphore.signal(firstValue, frontier);
            return List.of();
        } catch (IreeException e) {
            firstSemaphore.fail(e);
            return List.of(new Entry(firstSemaphore, firstValue));
        }
    }

    /**
     * Blocks until reached. A waiting virtual thread occupies no carrier.
     *
     * @throws IreeException the first failure; CANCELLED when interrupted (the thread stays interrupted)
     */
    public void await() {
        await(WaitTime.FOREVER);
    }

    /**
     * Blocks until reached or time runs out. A waiting virtual thread occupies no carrier.
     *
     * @param timeout the longest wait; zero only checks
     * @throws IreeException DEADLINE_EXCEEDED; the first failure; CANCELLED when interrupted (the thread stays
     *     interrupted)
     */
    public void await(Duration timeout) {
        await(WaitTime.nanos(timeout));
    }

    private void await(long timeoutNanos) {
        checkLive();
        if (others == null) {
            firstSemaphore.await(firstValue, timeoutNanos);
            return;
        }
        if (!isReached()) {
            MultiWait.awaitAll(List.of(this), timeoutNanos);
        }
    }

    /** Registers a wait for every point, numbered from {@code first}. */
    void register(AllWait wait, int first) {
        for (int i = 0; i < size(); i++) {
            wait.add(first + i, semaphore(i).whenReached(value(i), wait));
        }
    }

    /**
     * Calls back once, when all points are reached (with null) or when a first timeline fails (with its failure): on
     * this thread if either has happened already, else on the causing thread. The rules of {@link Timepoint} apply. The
     * wait holds no references: if a semaphore is closed before its point is reached, the failure is CANCELLED.
     *
     * @param callback the callback
     * @return cancels the callback
     */
    public Cancellation whenReached(Consumer<? super @Nullable IreeException> callback) {
        checkLive();
        if (others == null) {
            return firstSemaphore.whenReached(firstValue, (value, failure) -> callback.accept(failure));
        }
        AllWait wait = new AllWait(callback, size());
        register(wait, 0);
        return wait;
    }

    /**
     * Returns a future of this fence. Cancelling the future only ends the wait. Dependents of the future run on the
     * signalling thread, under the rules of {@link Timepoint}: use the future's {@code ...Async} methods for blocking
     * work.
     *
     * @return completes with null when reached, exceptionally with the {@link IreeException}
     */
    public CompletableFuture<@Nullable Void> toCompletableFuture() {
        CompletableFuture<@Nullable Void> future = new CompletableFuture<>();
        Cancellation wait = whenReached(failure -> {
            if (failure == null) {
                future.complete(null);
            } else {
                future.completeExceptionally(failure);
            }
        });
        future.whenComplete((ignored, failure) -> {
            if (future.isCancelled()) {
                wait.cancel();
            }
        });
        return future;
    }

    /** Throws when closed. */
    void checkOpen() {
        checkLive();
    }

    @Override
    protected String describe() {
        return "fence of " + size() + (size() == 1 ? " point" : " points");
    }

    @Override
    protected void destroy() {
        for (int i = 0; i < size(); i++) {
            semaphore(i).release();
        }
    }

    /** Points gathered for a new fence; few, so searched linearly. */
    private static final class Merge {
        private final TimelineSemaphore[] semaphores;
        private final long[] values;
        private int count;

        Merge(int capacity) {
            semaphores = new TimelineSemaphore[capacity];
            values = new long[capacity];
        }

        void add(TimelineSemaphore semaphore, long value) {
            for (int i = 0; i < count; i++) {
                if (semaphores[i] == semaphore) {
                    values[i] = Math.max(values[i], value);
                    return;
                }
            }
            semaphores[count] = semaphore;
            values[count++] = value;
        }

        Fence toFence() {
            Others others = count == 1
                    ? null
                    : new Others(Arrays.copyOfRange(semaphores, 1, count), Arrays.copyOfRange(values, 1, count));
            return new Fence(semaphores[0], values[0], others).retainingAll();
        }
    }
}

package io.github.iree4j.hal;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.SignalRecord;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.frontier.MutableFrontier;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.OperationsUnderWay;
import io.github.iree4j.status.IreeException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The queues that know of one another: they share a tracker of what has completed and take their axes from one allocator, so their
 * frontiers can be compared. Devices of one process use {@link #ofProcess()} unless told otherwise.
 *
 * <p>Safe from any thread.
 */
public final class SchedulingDomain {
    /** The open queues of a domain, as those that order their operations know them. */
    public interface Queues {
        /**
         * Takes back operations that have not been issued.
         *
         * @param calls whose operations
         * @param cause what they fail with
         */
        void withdraw(Predicate<MemoryHolder> calls, IreeException cause);
    }

    /** Counts what it takes to gather a frontier. */
    public interface MergeMeter {
        /**
         * One frontier was joined with another.
         *
         * @param lost whether entries were lost, which the result says of itself from then on
         */
        void merged(boolean lost);
    }

    private static final class OfProcess {
        private static final SchedulingDomain INSTANCE =
                create(AxisAllocator.ofProcess(), FrontierTracker.create(), Frontier.DEFAULT_CAPACITY);
    }

    private final AxisAllocator axes;
    private final FrontierTracker tracker;
    private final int frontierCapacity;
    private final AtomicReference<@Nullable Queues> queues = new AtomicReference<>(); // set once
    private final long hostAxis;
    private final AtomicLong hostEpochs = new AtomicLong();

    private SchedulingDomain(AxisAllocator axes, FrontierTracker tracker, int frontierCapacity) {
        this.axes = axes;
        this.tracker = tracker;
        this.frontierCapacity = frontierCapacity;
        this.hostAxis = axes.allocate(CausalDomain.HOST);
        tracker.register(hostAxis);
    }

    /**
     * Returns the domain of this process.
     *
     * @return the domain, always the same
     */
    public static SchedulingDomain ofProcess() {
        return OfProcess.INSTANCE;
    }

    /**
     * Creates a domain.
     *
     * @param axes where its queues get their axes
     * @param tracker where they register them; the caller keeps it open as long as the domain is used
     * @param frontierCapacity how many entries the frontiers of operations may have, 1 to {@link Frontier#MAXIMUM_CAPACITY}
     * @return the domain
     */
    public static SchedulingDomain create(AxisAllocator axes, FrontierTracker tracker, int frontierCapacity) {
        return new SchedulingDomain(axes, tracker, frontierCapacity);
    }

    /**
     * Returns what has completed.
     *
     * @return the tracker, borrowed
     */
    public FrontierTracker tracker() {
        return tracker;
    }

    /**
     * Returns where axes come from.
     *
     * @return the allocator, borrowed
     */
    public AxisAllocator axes() {
        return axes;
    }

    /**
     * Returns how many entries the frontiers of operations may have.
     *
     * @return the capacity
     */
    public int frontierCapacity() {
        return frontierCapacity;
    }

    /**
     * Begins work that the host does itself between two fences, so that what it signals carries what happened before. All of it is on one
     * axis, whose epochs are given in the order in which such work is over, as on an unordered queue.
     *
     * @param wait what the work follows, reached; null for nothing
     * @return the work; {@link HostSpan#end} gives its frontier
     */
    public HostSpan beginHostWork(@Nullable Fence wait) {
        return new HostSpan(this, wait == null ? null : imports(wait, null));
    }

    /** Work of the host is over: its place on the axis, which is that far now. */
    Frontier endHostWork(@Nullable MutableFrontier imported) {
        long epoch = hostEpochs.incrementAndGet();
        Frontier frontier =
                imported == null ? Frontier.producedBy(hostAxis, epoch) : imported.produce(hostAxis, epoch, tracker);
        tracker.advance(hostAxis, epoch);
        return frontier;
    }

    /**
     * Returns what reached waits bring, as far as it has not completed.
     *
     * @param wait reached
     * @param meter told of every join; null for none
     * @return the frontier; null when all has completed, which is the rule where the host sees completions
     */
    public @Nullable MutableFrontier imports(Fence wait, @Nullable MergeMeter meter) {
        MutableFrontier gathered = null;
        SignalRecord found = new SignalRecord();
        for (int i = 0; i < wait.size(); i++) {
            if (wait.semaphore(i).lookup(wait.value(i), found)
                    && !found.frontier().isCompleted(tracker)) {
                if (gathered == null) {
                    gathered = new MutableFrontier(frontierCapacity);
                }
                boolean wasWhole = !gathered.isTainted() && !found.frontier().isTainted();
                gathered.merge(found.frontier(), tracker);
                if (meter != null) {
                    meter.merged(wasWhole && gathered.isTainted());
                }
            }
        }
        return gathered;
    }

    /**
     * Takes back what a call that ended early has submitted to any queue and that has not been issued: it fails, and what it holds or
     * asked for goes back. What was issued goes on.
     *
     * @param holder the call
     * @param cause what the operations fail with
     */
    public void withdraw(MemoryHolder holder, IreeException cause) {
        withdraw(holder::equals, cause);
    }

    /**
     * The same for all calls of a program.
     *
     * @param program what counts the operations of its calls
     * @param cause what the operations fail with
     */
    public void withdraw(OperationsUnderWay program, IreeException cause) {
        withdraw(holder -> holder.operations().equals(program), cause);
    }

    private void withdraw(Predicate<MemoryHolder> calls, IreeException cause) {
        Queues known = queues.get();
        if (known != null) {
            known.withdraw(calls, cause);
        }
    }

    /**
     * Returns what orders the operations of the queues. For {@code hal.schedule} alone, which expects to find there what it made.
     *
     * @param make makes it, of which the first is kept
     * @return always the same
     */
    public Queues queues(Supplier<Queues> make) {
        Queues known = queues.get();
        if (known != null) {
            return known;
        }
        Queues made = make.get();
        Queues first = queues.compareAndExchange(null, made);
        return first == null ? made : first;
    }
}

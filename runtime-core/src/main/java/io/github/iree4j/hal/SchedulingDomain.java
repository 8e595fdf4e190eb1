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
import io.github.iree4j.hal.pool.PoolObservation;
import io.github.iree4j.status.IreeException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A group of queues that know each other's progress: they share a tracker of completions and allocate their axes from one allocator, so
 * their frontiers can be compared. The devices of a process use {@link #ofProcess()} by default.
 *
 * <p>Safe from any thread.
 */
public final class SchedulingDomain {
    /** The open queues of a domain, as their scheduler knows them. */
    public interface Queues {
        /**
         * Withdraws operations that have not been issued.
         *
         * @param calls selects the calls whose operations are withdrawn
         * @param cause the failure of the operations
         */
        void withdraw(Predicate<MemoryHolder> calls, IreeException cause);

        /**
         * Counts the requests for memory without which a call cannot continue.
         *
         * @param call the call
         * @return as {@link SchedulingDomain#heldByMemory}
         */
        int heldByMemory(MemoryHolder call);
    }

    /** Counts merges of frontiers. */
    public interface MergeMeter {
        /**
         * Called when two frontiers have been merged.
         *
         * @param lost whether entries were lost, which taints the result
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
    private final PoolObservation memory = new PoolObservation();
    private final long hostAxis;
    private final AtomicLong hostEpochs = new AtomicLong();
    private volatile Supplier<@Nullable Object> contexts = () -> null;

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
     * @param axes allocates the axes of its queues
     * @param tracker where the queues register their axes; the caller keeps it open as long as the domain is used
     * @param frontierCapacity how many entries the frontiers of operations may have, 1 to {@link Frontier#MAXIMUM_CAPACITY}
     * @return the domain
     */
    public static SchedulingDomain create(AxisAllocator axes, FrontierTracker tracker, int frontierCapacity) {
        return new SchedulingDomain(axes, tracker, frontierCapacity);
    }

    /**
     * Returns the tracker of completions.
     *
     * @return the tracker, borrowed
     */
    public FrontierTracker tracker() {
        return tracker;
    }

    /**
     * Returns the allocator of axes.
     *
     * @return the allocator, borrowed
     */
    public AxisAllocator axes() {
        return axes;
    }

    /**
     * Returns what observes the pools of the domain's devices.
     *
     * @return the observation, borrowed
     */
    public PoolObservation memory() {
        return memory;
    }

    /**
     * Sets what knows the context of a thread outside of calls. For remote devices: the trace that the thread is in.
     *
     * @param current asked by threads that make calls and submit operations; must be quick, and not throw
     */
    public void contexts(Supplier<@Nullable Object> current) {
        contexts = current;
    }

    /**
     * Returns what goes with the calls that the calling thread makes and the operations that it submits: the context of the call that it runs, which
     * is that of the thread that made the call; else its own.
     *
     * @return the context; null for none
     */
    public @Nullable Object context() {
        MemoryHolder call = MemoryHolder.current();
        return call != null ? call.context() : contexts.get();
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
     * Begins work of the host between two fences, so that its signals carry what happened before. All such work is on one axis, whose
     * epochs are assigned in the order of completion, as on an unordered queue.
     *
     * @param wait what the work follows; must be reached; null for nothing
     * @return the work; {@link HostSpan#end} gives its frontier
     */
    public HostSpan beginHostWork(@Nullable Fence wait) {
        return new HostSpan(this, wait == null ? null : imports(wait, null));
    }

    /** Ends work of the host: assigns its epoch and advances the host's axis to it. */
    Frontier endHostWork(@Nullable MutableFrontier imported) {
        long epoch = hostEpochs.incrementAndGet();
        Frontier frontier =
                imported == null ? Frontier.producedBy(hostAxis, epoch) : imported.produce(hostAxis, epoch, tracker);
        tracker.advance(hostAxis, epoch);
        return frontier;
    }

    /**
     * Returns the merged frontiers of reached waits, as far as they have not completed.
     *
     * @param wait a reached fence
     * @param meter called for every merge; null for none
     * @return the frontier; null when all have completed, the usual case where the host sees completions
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
     * Withdraws the operations of a call that ended early from all queues, unless they have been issued: they fail, and release the memory
     * that they hold or wait for. Issued operations continue.
     *
     * @param holder the call
     * @param cause the failure of the operations
     */
    public void withdraw(MemoryHolder holder, IreeException cause) {
        holder.abandon();
        withdraw(holder::equals, cause);
    }

    /**
     * Withdraws the operations of all calls of a program, as {@link #withdraw(MemoryHolder, IreeException)} does.
     *
     * @param program counts the operations of its calls
     * @param cause the failure of the operations
     */
    public void withdraw(OperationsUnderWay program, IreeException cause) {
        program.abandon();
        withdraw(holder -> holder.operations().equals(program), cause);
    }

    private void withdraw(Predicate<MemoryHolder> calls, IreeException cause) {
        Queues known = queues.get();
        if (known != null) {
            known.withdraw(calls, cause);
        }
    }

    /**
     * Counts the requests for memory without which a call cannot continue, whatever others do: each of its unfinished operations, and its code,
     * waits for one of these requests, or for one of these operations. Takes locks of queues and timelines, with which nobody calls anything.
     *
     * @param call the call
     * @return their number; 0 proves nothing: part of the call may continue, or wait for somebody else
     */
    public int heldByMemory(MemoryHolder call) {
        Queues known = queues.get();
        return known == null ? 0 : known.heldByMemory(call);
    }

    /**
     * Returns the scheduler's view of the queues. For {@code hal.schedule} alone, which expects to find its own object.
     *
     * @param make creates it; the first one created is kept
     * @return always the same object
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

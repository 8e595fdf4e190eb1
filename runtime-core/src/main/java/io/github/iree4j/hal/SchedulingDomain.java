package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;
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
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A group of queues with mutual knowledge of progress: the queues share a tracker of completions and allocate axes from
 * one allocator, so the frontiers of the queues can be compared. The devices of a process use {@link #ofProcess()} by
 * default.
 *
 * <p>Safe from any thread.
 */
@NotForApplications
public final class SchedulingDomain {
    /** The open queues of a domain, as known to their scheduler. */
    public interface Queues {
        /**
         * Withdraws operations not yet issued.
         *
         * @param calls selects the calls of the operations to withdraw
         * @param cause the failure of the operations
         */
        void withdraw(Predicate<MemoryHolder> calls, IreeException cause);

        /**
         * Counts the requests for memory needed by a call to continue.
         *
         * @param call the call
         * @return as {@link SchedulingDomain#heldByMemory}
         */
        int heldByMemory(MemoryHolder call);

        /**
         * Returns the memory that a call's operations wait for.
         *
         * @param call the call
         * @return as {@link SchedulingDomain#awaitedBytes}
         */
        long awaitedBytes(MemoryHolder call);
    }

    /** The calls in progress of a program, as known to the program. */
    public interface Calls {
        /**
         * Passes the calls to a visitor.
         *
         * @param visitor receives each call, with no lock held
         */
        void forEachOpen(CallVisitor visitor);
    }

    /** Receives calls in progress. */
    @FunctionalInterface
    public interface CallVisitor {
        /**
         * Receives a call.
         *
         * @param program the program's name
         * @param function the function's full name, for example {@code module.add}
         * @param number the call's number in this process, above 0
         * @param state the name of the call's state, for example {@code SUSPENDED}
         * @param since the time since the call began
         * @param waits points of timelines awaited and not reached; none when the call waits for no point
         * @param signals points of timelines signalled by the call, or by its work; none when the caller gave no fence
         */
        void open(
                String program,
                String function,
                long number,
                String state,
                Duration since,
                List<PendingOperation.Wait> waits,
                List<PendingOperation.Point> signals);
    }

    /** Counts merges of frontiers. */
    public interface MergeMeter {
        /**
         * Called when two frontiers have been merged.
         *
         * @param lost whether entries were lost, tainting the result
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
    // of programs not freed yet; weak, so that a program lost unfreed is found out
    private final Set<Calls> calls = Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));
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
     * @param axes allocates the axes of the domain's queues
     * @param tracker registers the axes of the queues; the caller keeps the tracker open as long as the domain is used
     * @param frontierCapacity maximum number of entries in frontiers of operations, 1 to
     *     {@link Frontier#MAXIMUM_CAPACITY}
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
     * Returns the observer of the pools of the domain's devices.
     *
     * @return the observation, borrowed
     */
    public PoolObservation memory() {
        return memory;
    }

    /**
     * Adds the calls of a program to {@link #forEachOpenCall}.
     *
     * @param program the calls, weakly referenced; compared by identity
     */
    public void add(Calls program) {
        calls.add(program);
    }

    /**
     * Passes the calls in progress of all programs of the domain to a visitor.
     *
     * @param visitor receives each call, with no lock held
     */
    public void forEachOpenCall(CallVisitor visitor) {
        List<Calls> programs;
        synchronized (calls) {
            programs = List.copyOf(calls);
        }
        programs.forEach(each -> each.forEachOpen(visitor));
    }

    /**
     * Sets the source of the context of a thread outside of calls. For remote devices: the current trace of the
     * thread.
     *
     * @param current called by threads making calls and submitting operations; must be quick, and not throw
     */
    public void contexts(Supplier<@Nullable Object> current) {
        contexts = current;
    }

    /**
     * Returns the context for calls and operations of the calling thread: the context of the running call, taken from
     * the thread that made the call; outside of calls, the context of the calling thread.
     *
     * @return the context; null for none
     */
    public @Nullable Object context() {
        MemoryHolder call = MemoryHolder.current();
        return call != null ? call.context() : contexts.get();
    }

    /**
     * Returns the maximum number of entries in frontiers of operations.
     *
     * @return the capacity
     */
    public int frontierCapacity() {
        return frontierCapacity;
    }

    /**
     * Begins work of the host between two fences, so that the signals carry the predecessors. All such work is on one
     * axis. Epochs are assigned in the order of completion, as on an unordered queue.
     *
     * @param wait fence before the work; must be reached; null for nothing
     * @return the work; {@link HostSpan#end} returns the frontier of the work
     */
    public HostSpan beginHostWork(@Nullable Fence wait) {
        return new HostSpan(this, wait == null ? null : imports(wait, null));
    }

    /** Ends work of the host: assigns an epoch and advances the host's axis to the epoch. */
    Frontier endHostWork(@Nullable MutableFrontier imported) {
        long epoch = hostEpochs.incrementAndGet();
        Frontier frontier =
                imported == null ? Frontier.producedBy(hostAxis, epoch) : imported.produce(hostAxis, epoch, tracker);
        tracker.advance(hostAxis, epoch);
        return frontier;
    }

    /**
     * Returns the merged frontiers of reached waits, without completed frontiers.
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
     * Withdraws the operations of a prematurely ended call from all queues, unless issued: the operations fail, and
     * release the memory held or requested. Issued operations continue.
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
     * @param program counts the operations of the program's calls
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
     * Counts the requests for memory needed by a call to continue, regardless of other calls: each unfinished operation
     * of the call, and the code of the call, waits for such a request, or for such an operation. Takes locks of queues
     * and timelines, never held during calls of other code.
     *
     * @param call the call
     * @return number of requests; 0 proves nothing: part of the call may continue, or wait for another party
     */
    public int heldByMemory(MemoryHolder call) {
        Queues known = queues.get();
        return known == null ? 0 : known.heldByMemory(call);
    }

    /**
     * Returns the memory that a call's operations wait for, for diagnostics. Takes locks as {@link #heldByMemory}.
     *
     * @param call the call
     * @return bytes; 0 when no operation waits for memory alone
     */
    public long awaitedBytes(MemoryHolder call) {
        Queues known = queues.get();
        return known == null ? 0 : known.awaitedBytes(call);
    }

    /**
     * Returns the scheduler's view of the queues. For {@code hal.schedule} alone, where the same object is expected
     * back.
     *
     * @param make creates the object; the first object is kept
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

package io.github.iree4j.task;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.DurationText;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Workers that drain processes.
 *
 * <p>A process for one worker goes on a list, first come, first served. A process for several workers goes into a slot,
 * where all workers find the process. The thread that makes a process runnable places the process and wakes as many
 * sleeping workers as the process wants: two directly, which wake the others. A worker checks the list first, at the
 * cost of a load when empty, then the slots. A worker without work spins for an adaptive time and then sleeps. A worker
 * has no thread before the first wake-up, which starts the thread.
 *
 * <p>Safe from any thread. Only {@link #close()} blocks.
 */
@NotForApplications
public final class ProcessExecutor implements AutoCloseable {
    /** Maximum number of workers of an executor. */
    public static final int MAX_WORKERS = 256;

    /** Maximum number of concurrently draining callers. */
    static final int MAX_CALLERS = 64;

    private final String name;
    private final Duration closeLimit;
    private final boolean threads;
    private final ListNodes nodes = new ListNodes();
    private final ProcessList immediate = new ProcessList(nodes);
    private final ComputeSlots slots;
    private final SlotPlacement placement;
    private final ProcessTable table = new ProcessTable();
    private final Worker[] workers;
    private final WakeUps wakes;
    private final WakeCost wakeCost;
    private final DrainingCallers callers;

    /**
     * Incremented for news in a slot. TASK-12: a worker has missed nothing if a scan finds nothing and the value before
     * the scan equals the value after the worker has marked itself idle.
     */
    private final PaddedLong signals = new PaddedLong();

    private volatile boolean closing;
    private volatile boolean abandoned;
    private volatile boolean terminated;

    @Nullable
    WorkerContext stepping; // the stepped context, in an executor without threads

    private ProcessExecutor(Builder options, boolean threads) {
        this.name = options.name;
        this.closeLimit = options.closeLimit;
        this.threads = threads;
        slots = new ComputeSlots(options.computeSlots);
        placement = new SlotPlacement(this, slots, new ProcessList(nodes));
        workers = new Worker[options.workers];
        wakes = new WakeUps(workers, options.fanOut, threads);
        wakeCost = new WakeCost(options.wakeCost, threads, System::nanoTime);
        for (int i = 0; i < workers.length; i++) {
            workers[i] = new Worker(this, i, options, threads);
        }
        callers = new DrainingCallers(workers.length, options.callers);
    }

    /**
     * Returns a builder.
     *
     * @param workers the number of worker threads, 1 to {@value #MAX_WORKERS}
     * @return the builder
     */
    public static Builder builder(int workers) {
        return new Builder(workers);
    }

    /**
     * Submits a process to this executor. From now on the executor drains the process whenever runnable. A process is
     * submitted once; the executor keeps the process until it has ended, awake or not.
     *
     * @param process runnable or suspended
     * @throws IreeException {@code FAILED_PRECONDITION} when the process belongs to another executor
     */
    public void submit(TaskProcess process) {
        adopt(process);
        schedule(process);
    }

    /**
     * Submits like {@link #submit}, but the process starts asleep: no worker drains it before it is
     * {@linkplain TaskProcess#schedule() scheduled}.
     *
     * @param process runnable or suspended
     * @throws IreeException {@code FAILED_PRECONDITION} when the process belongs to another executor
     */
    public void adopt(TaskProcess process) {
        ProcessExecutor before = process.bindVolatile(this);
        if (before != null) {
            if (before != this) {
                throw IreeException.of(
                        StatusCode.FAILED_PRECONDITION, process + " belongs to executor '" + before.name + "' already");
            }
            return;
        }
        process.node = nodes.take();
        table.add(process);
        process.setActivationBitsVolatile(ProcessActivation.LISTED); // TASK-16
        if (process.isLeftForGood()) {
            unlist(process); // cancelled during the addition
        } else if (closing) {
            process.fail(IreeException.of(
                    StatusCode.CANCELLED, process + " was submitted to " + this + ", which is closed"));
        }
    }

    /** Removes the process from the table, unless already removed. */
    void unlist(TaskProcess process) {
        long before = process.clearActivationBitsVolatile(ProcessActivation.LISTED);
        if ((before & ProcessActivation.LISTED) == 0) {
            return;
        }
        nodes.give(process.node);
        if (table.remove(process) == 0 && closing) {
            wakes.wakeAll();
        }
    }

    void schedule(TaskProcess process) {
        if (!process.maySchedule()) {
            return; // the thread that takes the last suspend calls this method, and so does the submitter
        }
        switch (process.request()) {
            case PLACE -> place(process);
            case SIGNAL -> {
                signals.getAndAddVolatile(1);
                wakeWorkers(process, process.budgetOpaque());
            }
            case NONE -> {}
        }
    }

    /** Puts a process made QUEUED by the caller on the list or in a slot. */
    void place(TaskProcess process) {
        if (isForSlot(process) && !closing) {
            placement.place(process);
        } else {
            immediate.push(process);
            if (terminated) { // there are no workers; close() sets `terminated` before its last check
                drainRest();
            } else {
                wakeWorkers(process, 1);
            }
        }
    }

    static boolean isForSlot(TaskProcess process) {
        return switch (process.options.placement()) {
            case IMMEDIATE -> false;
            case COMPUTE -> true;
            case BY_BUDGET -> process.budgetOpaque() > 1;
        };
    }

    void budgetChanged(TaskProcess process, int before, int now) {
        if (ProcessSchedule.place(process.wordVolatile()) == ProcessSchedule.SLOTTED) {
            if (now > before) {
                signals.getAndAddVolatile(1);
                wakes.wake(now - before);
            }
        }
    }

    /** Wakes workers for work placed just before. */
    void wakeWorkers(TaskProcess process, int count) {
        int wanted = count;
        WorkerContext self = current();
        if (self != null && self.owesWakeFor == null) {
            self.owesWakeFor = process; // the calling worker looks for work after this drain
            wanted--;
        }
        if (wanted > 0) {
            wakes.wake(wanted);
        }
    }

    /**
     * TASK-18: makes up for an omitted wake-up when the worker begins or continues with a process: if the worker made
     * another process runnable, another worker is woken.
     */
    @SuppressWarnings("ReferenceEquality") // identity, whatever a subclass defines as equal
    void payWake(WorkerContext context, TaskProcess continued) {
        TaskProcess owed = context.owesWakeFor;
        if (owed != null) {
            context.owesWakeFor = null;
            if (owed != continued) {
                wakes.wake(1);
            }
        }
    }

    /**
     * Returns whether the calling thread is a worker of this executor. A worker must not wait for workers.
     *
     * @return also false for draining callers
     */
    public boolean isWorkerThread() {
        return threads && current() != null;
    }

    /** Returns the context of the calling thread if the thread is a worker of this executor, else null. */
    private @Nullable WorkerContext current() {
        if (threads) {
            return Thread.currentThread() instanceof WorkerThread thread && thread.worker.executor == this
                    ? thread.worker.context
                    : null;
        }
        return stepping;
    }

    /**
     * Drains a process in a slot once, on the calling thread, concurrently with any workers. Does nothing if the
     * process is not in a slot.
     *
     * @param process a process of this executor
     * @return whether work was done. If so, there may be more work without a worker looking for it: the caller drains
     *     again or {@linkplain TaskProcess#schedule() schedules} the process
     */
    public boolean tryDrainOnce(TaskProcess process) {
        if (!process.isOpenAcquire()) {
            return false;
        }
        WorkerContext context = callers.borrow();
        if (context == null) {
            return false;
        }
        try {
            return Drains.drainShared(this, process, context) == Drains.Shared.WORKED;
        } finally {
            callers.giveBack(context);
        }
    }

    void finishOwned(TaskProcess process) {
        if (process.setTerminal()) {
            process.complete();
        }
        process.ownedReleased();
        process.release(this);
    }

    /**
     * Returns the number of workers.
     *
     * @return 1 to {@value #MAX_WORKERS}
     */
    public int workers() {
        return workers.length;
    }

    /**
     * Returns the number of {@link WorkerContext#index()} values: of workers and draining callers.
     *
     * @return more than {@link #workers()} unless no caller may drain
     */
    public int contexts() {
        return workers.length + callers.count();
    }

    /**
     * Returns roughly the number of workers wanted: the sum of the budgets of all processes in slots, plus one if the
     * list is not empty.
     *
     * @return 0 when there is nothing to do
     */
    public int aggregateBudget() {
        return slots.aggregateBudget() + (immediate.isEmpty() ? 0 : 1);
    }

    /**
     * Returns the number of processes that have not ended.
     *
     * @return the number of processes submitted and not yet released, asleep or not
     */
    public long liveProcesses() {
        return table.liveVolatile();
    }

    /**
     * Returns the number of sleeping workers, including workers not needed yet.
     *
     * @return 0 to {@link #workers()}
     */
    public int sleepingWorkers() {
        return wakes.idle().count();
    }

    /**
     * Returns the largest number of workers awake at once since the last call of this method, for a single reader.
     *
     * @return at least the number of workers awake now
     */
    public int takeMostAwake() {
        return wakes.idle().takeMostAwake();
    }

    /**
     * Returns how long a sleeping worker takes to run after being woken. Shorter work is not worth handing to a worker.
     *
     * @return nanoseconds, above 0: as given to the {@linkplain Builder#wakeCost builder}, else as measured when the
     *     first executor of the process was made, corrected by each wake-up
     */
    public long wakeNanos() {
        return wakeCost.nanos();
    }

    /**
     * Returns whether waking a sleeping worker is worth the time gained. Also true, now and then, if the cost is in doubt,
     * because no wake-up has corrected the cost for seconds.
     *
     * @param gainNanos the time by which work would end earlier, without the cost of the wake-up
     * @return whether the gain exceeds the cost as far as known
     */
    public boolean isWorthWaking(long gainNanos) {
        return wakeCost.isBelow(gainNanos);
    }

    /**
     * Cancels all processes and waits until they and the workers have ended. Closing takes at most one drain per
     * process and worker. Processes submitted later are cancelled at once. A second close also waits.
     *
     * @throws IreeException {@code DEADLINE_EXCEEDED} when a drain does not return within {@link Builder#closeTimeout},
     *     naming the drain; {@code FAILED_PRECONDITION} from a worker
     */
    @Override
    public void close() {
        if (threads && current() != null) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    "%s cannot be closed by a worker of the same executor".formatted(this));
        }
        closing = true;
        table.forEach(process -> process.fail(
                IreeException.of(StatusCode.CANCELLED, process + " was cancelled: " + this + " was closed")));
        if (threads) {
            retireUnneeded();
            wakes.wakeAll();
            awaitWorkers();
        } else {
            while (table.liveVolatile() > 0 && stepAll()) {
                continue;
            }
        }
        terminated = true;
        drainRest();
    }

    /**
     * TASK-17: workers not started yet never will be, except the first if there are processes. A later process goes on
     * the list, because this executor is closing, and is taken off by a running worker or by {@link #drainRest}.
     */
    private void retireUnneeded() {
        if (table.liveVolatile() > 0) {
            workers[0].startIfNew();
        }
        for (int i = 0; i < workers.length; i++) {
            if (workers[i].retireIfNew()) {
                wakes.idle().remove(i);
            }
        }
    }

    private void awaitWorkers() {
        long deadline = System.nanoTime() + closeLimit.toNanos();
        for (Worker worker : workers) {
            if (!worker.awaitEnd(deadline)) {
                abandoned = true;
                terminated = true;
                wakes.wakeAll();
                throw IreeException.of(
                        StatusCode.DEADLINE_EXCEEDED,
                        "%s is not closed after %s: %s is in %s; a drain must return soon"
                                .formatted(this, DurationText.of(closeLimit), worker.context, worker.draining()));
            }
        }
    }

    /** Ends processes that arrived after the last worker's last check. */
    private void drainRest() {
        for (TaskProcess process; (process = immediate.pop()) != null; ) {
            process.own();
            finishOwned(process);
        }
    }

    private boolean stepAll() {
        boolean worked = false;
        for (Worker worker : workers) {
            worked |= worker.step();
        }
        return worked;
    }

    boolean isClosing() {
        return closing;
    }

    /** Returns whether workers must end. */
    boolean isComplete() {
        return closing && (abandoned || table.liveVolatile() == 0);
    }

    ProcessList immediate() {
        return immediate;
    }

    ComputeSlots slots() {
        return slots;
    }

    SlotPlacement placement() {
        return placement;
    }

    WakeUps wakes() {
        return wakes;
    }

    WakeCost wakeCost() {
        return wakeCost;
    }

    PaddedLong signals() {
        return signals;
    }

    Worker worker(int index) {
        return workers[index];
    }

    @Override
    public String toString() {
        return "executor '" + name + "'";
    }

    /** The options of an executor. */
    public static final class Builder {
        final int workers;
        String name = "task";
        int computeSlots = ComputeSlots.MAX;
        int callers = 16;
        int fanOut = 2;
        long spinNanos = Tuning.SPIN_NANOS;
        Duration closeLimit = Duration.ofSeconds(30);
        WorkerSetup setup = WorkerSetup.NONE;

        @Nullable
        Duration wakeCost;

        private Builder(int workers) {
            ProcessOptions.checkRange("workers", workers, 1, MAX_WORKERS);
            this.workers = workers;
        }

        /**
         * Sets the name; the threads' names contain the name too.
         *
         * @param name the name, for diagnostics; {@code task} by default
         * @return this
         */
        public Builder name(String name) {
            this.name = Objects.requireNonNull(name, "name");
            return this;
        }

        /**
         * Sets the number of processes that several workers may drain concurrently; further processes wait.
         *
         * @param slots 1 to 64; 64 by default
         * @return this
         */
        public Builder computeSlots(int slots) {
            ProcessOptions.checkRange("compute slots", slots, 1, ComputeSlots.MAX);
            this.computeSlots = slots;
            return this;
        }

        /**
         * Sets the maximum number of threads concurrently in {@link ProcessExecutor#tryDrainOnce}.
         *
         * @param callers 0 to 64; 16 by default
         * @return this
         */
        public Builder callers(int callers) {
            ProcessOptions.checkRange("callers", callers, 0, MAX_CALLERS);
            this.callers = callers;
            return this;
        }

        /**
         * Sets the number of workers woken by a thread that creates work, and by each woken worker.
         *
         * @param workers 1 or more; 2 by default
         * @return this
         */
        public Builder wakeFanOut(int workers) {
            ProcessOptions.checkRange("fan-out", workers, 1, MAX_WORKERS);
            this.fanOut = workers;
            return this;
        }

        /**
         * Sets the longest time that an idle worker spins before sleeping.
         *
         * @param longest 0 to sleep at once
         * @return this
         */
        public Builder spin(Duration longest) {
            this.spinNanos = Math.max(0, longest.toNanos());
            return this;
        }

        /**
         * Sets how long {@link ProcessExecutor#close()} waits for drains to return.
         *
         * @param limit 30 seconds by default
         * @return this
         */
        public Builder closeTimeout(Duration limit) {
            this.closeLimit = limit;
            return this;
        }

        /**
         * Sets the time until a woken worker runs, instead of measuring the time.
         *
         * @param cost up to 500 microseconds; greater values count as 500 microseconds
         * @return this
         */
        public Builder wakeCost(Duration cost) {
            this.wakeCost = Objects.requireNonNull(cost, "cost");
            return this;
        }

        /**
         * Sets the workers' setup before the first drain.
         *
         * @param setup nothing by default
         * @return this
         */
        public Builder setup(WorkerSetup setup) {
            this.setup = Objects.requireNonNull(setup, "setup");
            return this;
        }

        /**
         * Creates the executor. A worker's thread starts when first needed.
         *
         * @return the executor; the caller closes it
         */
        public ProcessExecutor build() {
            return new ProcessExecutor(this, true);
        }

        /**
         * Creates an executor without threads; the caller steps the workers. For tests.
         *
         * @return the executor; the caller closes it
         */
        public SteppedExecutor buildStepped() {
            return new SteppedExecutor(new ProcessExecutor(this, false));
        }
    }
}

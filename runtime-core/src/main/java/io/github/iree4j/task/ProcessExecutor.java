package io.github.iree4j.task;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Workers that drain processes.
 *
 * <p>A process that wants one worker goes on a list, first come first served; one that wants several goes into a slot, where all of them find it. Whoever
 * makes a process runnable puts it there and wakes as many sleeping workers as it wants: two itself, who wake the others. A worker looks at the list
 * first, which costs a load when it is empty, then at the slots, and when it finds nothing it spins for a while that depends on how that went before, and sleeps.
 * One that has not been needed yet has no thread; to wake it is to start it.
 *
 * <p>Safe from any thread. Nothing here blocks but {@link #close()}.
 */
public final class ProcessExecutor implements AutoCloseable {
    /** Most workers of one executor. */
    public static final int MAX_WORKERS = 256;

    /** Most callers that drain at the same time. */
    static final int MAX_CALLERS = 64;

    private final String name;
    private final Duration closeLimit;
    private final boolean threads;
    private final ListNodes nodes = new ListNodes();
    private final ProcessList immediate = new ProcessList(nodes);
    private final ComputeSlots slots;
    private final ScanTable scan;
    private final SlotPlacement placement;
    private final ProcessTable table = new ProcessTable();
    private final Worker[] workers;
    private final WakeUps wakes;
    private final DrainingCallers callers;

    /**
     * Goes up when there is something new in a slot; TASK-12: a worker that reads it before it looks, finds nothing and reads the same again after it has
     * said that it is idle has missed nothing.
     */
    private final PaddedLong signals = new PaddedLong();

    private volatile boolean closing;
    private volatile boolean abandoned;
    private volatile boolean terminated;

    @Nullable
    WorkerContext stepping; // of the thread that steps, when there are no threads

    private ProcessExecutor(Builder options, boolean threads) {
        this.name = options.name;
        this.closeLimit = options.closeLimit;
        this.threads = threads;
        slots = new ComputeSlots(options.computeSlots);
        scan = new ScanTable(slots, options.scanPolicy);
        placement = new SlotPlacement(this, slots, scan, new ProcessList(nodes));
        workers = new Worker[options.workers];
        wakes = new WakeUps(workers, options.fanOut, threads);
        for (int i = 0; i < workers.length; i++) {
            workers[i] = new Worker(this, i, options, threads);
        }
        callers = new DrainingCallers(this, workers.length, options.callers);
    }

    /**
     * Returns a builder.
     *
     * @param workers how many threads drain, 1 to {@value #MAX_WORKERS}
     * @return the builder
     */
    public static Builder builder(int workers) {
        return new Builder(workers);
    }

    /**
     * Gives a process to this executor: it is drained from now on whenever it is runnable. Once in a life; the executor keeps it until it is over, awake or not.
     *
     * @param process runnable or suspended
     * @throws IreeException {@code FAILED_PRECONDITION} when it belongs to another executor
     */
    public void submit(TaskProcess process) {
        adopt(process);
        schedule(process);
    }

    /**
     * Gives a process to this executor as {@link #submit} does, but as one that sleeps: no worker looks at it before it is {@linkplain TaskProcess#schedule()
     * scheduled}.
     *
     * @param process runnable or suspended
     * @throws IreeException {@code FAILED_PRECONDITION} when it belongs to another executor
     */
    public void adopt(TaskProcess process) {
        ProcessExecutor before = process.bindVolatile(this);
        if (before != null) {
            if (before != this) {
                throw new IreeException(
                        StatusCode.FAILED_PRECONDITION, process + " belongs to executor '" + before.name + "' already");
            }
            return;
        }
        TaskScope scope = process.options.scope();
        if (scope != null) {
            scope.begun();
        }
        process.node = nodes.take();
        table.add(process);
        process.setActivationBitsVolatile(ProcessActivation.LISTED); // TASK-16
        if (process.isLeftForGood()) {
            if (unlist(process) && scope != null) { // cancelled while it was being added
                scope.ended(process.failure());
            }
        } else if (closing) {
            process.fail(
                    new IreeException(StatusCode.CANCELLED, process + " came to " + this + " when that was closed"));
        }
    }

    /** True for the one call that takes it out of the table. */
    boolean unlist(TaskProcess process) {
        long before = process.clearActivationBitsVolatile(ProcessActivation.LISTED);
        if ((before & ProcessActivation.LISTED) == 0) {
            return false;
        }
        nodes.give(process.node);
        if (table.remove(process) == 0 && closing) {
            wakes.wakeAll();
        }
        return true;
    }

    void schedule(TaskProcess process) {
        if (!process.maySchedule()) {
            return; // whoever takes the last suspend comes here, and so does whoever submits it
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

    /** Puts a process that the caller has made QUEUED where workers look. */
    void place(TaskProcess process) {
        if (isForSlot(process) && !closing) {
            placement.place(process);
        } else {
            immediate.push(process);
            if (terminated) { // there are no workers; close() has set it before it looked for the last time
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
            scan.changed();
            if (now > before) {
                signals.getAndAddVolatile(1);
                wakes.wake(now - before);
            }
        }
    }

    /** Sees that as many more workers look for work that has just been put where they look. */
    void wakeWorkers(TaskProcess process, int count) {
        int wanted = count;
        WorkerContext self = current();
        if (self != null && self.owesWakeFor == null) {
            self.owesWakeFor = process; // it looks for work itself when this drain is over
            wanted--;
        }
        if (wanted > 0) {
            wakes.wake(wanted);
        }
    }

    /** The worker goes on with this process; when it made work with another, somebody else has to look for that. */
    @SuppressWarnings("ReferenceEquality") // the same object is meant, whatever a subclass calls equal
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
     * Returns whether the calling thread is one of the workers, which must not wait for them.
     *
     * @return false for callers that drain, too
     */
    public boolean isWorkerThread() {
        return threads && current() != null;
    }

    /** Returns the worker of this executor that the calling thread is, or null. */
    private @Nullable WorkerContext current() {
        if (threads) {
            return Thread.currentThread() instanceof WorkerThread thread && thread.worker.executor == this
                    ? thread.worker.context
                    : null;
        }
        return stepping;
    }

    /**
     * Drains a process on the calling thread, for as long as there is something to do, instead of handing it to a worker. It is adopted if it was new; a
     * process that workers have in a slot is drained along with them; one that waits for a worker on the list is left to it.
     *
     * @param process what to drain
     * @return whether the process is over; if not, it sleeps, or workers have it, or it has to be {@linkplain TaskProcess#schedule() scheduled} because too many
     *     callers drain already
     */
    public boolean tryDrainInline(TaskProcess process) {
        adopt(process);
        if (!process.isRunnable()) {
            return process.isReleased();
        }
        WorkerContext context = callers.borrow();
        if (context != null) {
            try {
                if (process.tryOwn()) {
                    Drains.drainOwnedToSleep(this, process, context);
                } else {
                    Drains.drainAlong(this, process, context);
                }
            } finally {
                callers.giveBack(context);
            }
        }
        return (process.activationVolatile() & ProcessActivation.DONE) != 0;
    }

    /**
     * Drains a process that is in a slot once, on the calling thread, along with whichever workers are in it. One that is elsewhere is left alone.
     *
     * @param process one of this executor's
     * @return whether something was done. Then there may be more that no worker is looking for: the caller drains again, or
     *     {@linkplain TaskProcess#schedule() schedules} the process
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
            process.complete(this);
        }
        process.ownedReleased();
        process.release(this);
    }

    /**
     * Changes the order in which workers look at slots, from now on.
     *
     * @param policy the order
     */
    public void scanPolicy(ScanPolicy policy) {
        scan.policy(Objects.requireNonNull(policy, "policy"));
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
     * Returns how many different {@link WorkerContext#index()} there are: workers, and callers that drain.
     *
     * @return more than {@link #workers()} unless no caller may drain
     */
    public int contexts() {
        return workers.length + callers.count();
    }

    /**
     * Returns how many workers are wanted: the sum of the budgets of all processes in slots, and of those on the list, as far as that can be seen.
     *
     * @return 0 when there is nothing to do
     */
    public int aggregateBudget() {
        return slots.aggregateBudget() + (immediate.isEmpty() ? 0 : 1);
    }

    /**
     * Returns how many processes are not over.
     *
     * @return submitted and not yet released, asleep or not
     */
    public long liveProcesses() {
        return table.liveVolatile();
    }

    /**
     * Returns how many workers sleep, those that have not been needed yet among them.
     *
     * @return 0 to {@link #workers()}
     */
    public int sleepingWorkers() {
        return wakes.idle().count();
    }

    /**
     * Cancels all processes, waits until they are over and the workers have ended. That takes at most one drain per process and worker. Processes that are
     * submitted later are cancelled at once. A second close waits as the first does.
     *
     * @throws IreeException {@code DEADLINE_EXCEEDED} when a drain does not return within {@link Builder#closeLimit}, saying which;
     *     {@code FAILED_PRECONDITION} from a worker
     */
    @Override
    public void close() {
        if (threads && current() != null) {
            throw new IreeException(
                    StatusCode.FAILED_PRECONDITION,
                    this + " cannot be closed by one of its workers, which it would wait for");
        }
        closing = true;
        table.forEach(process -> process.fail(
                new IreeException(StatusCode.CANCELLED, process + " was cancelled: " + this + " was closed")));
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
     * TASK-17: workers that nobody has started never will be, unless there are processes and no worker at all. A process that comes later is put on the list, since
     * this executor is being closed, and taken off it by a worker that runs, or by {@link #drainRest}.
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
                throw new IreeException(
                        StatusCode.DEADLINE_EXCEEDED,
                        "%s is not closed after %s: %s is in %s; a drain must return soon"
                                .formatted(this, closeLimit, worker.context, worker.draining()));
            }
        }
    }

    /** What came when the last worker had looked. */
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

    /** Whether workers are to end. */
    boolean isOver() {
        return closing && (abandoned || table.liveVolatile() == 0);
    }

    String name() {
        return name;
    }

    ProcessList immediate() {
        return immediate;
    }

    ComputeSlots slots() {
        return slots;
    }

    ScanTable scan() {
        return scan;
    }

    SlotPlacement placement() {
        return placement;
    }

    WakeUps wakes() {
        return wakes;
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

    /** What an executor is made of. */
    public static final class Builder {
        final int workers;
        String name = "task";
        int computeSlots = ComputeSlots.MAX;
        int callers = 16;
        int fanOut = 2;
        long spinNanos = Tuning.SPIN_NANOS;
        long stackBytes;
        Duration closeLimit = Duration.ofSeconds(30);
        ScanPolicy scanPolicy = ScanPolicy.roundRobin();
        WorkerSetup setup = WorkerSetup.NONE;

        private Builder(int workers) {
            ProcessOptions.checkRange("workers", workers, 1, MAX_WORKERS);
            this.workers = workers;
        }

        /**
         * Sets the name, which threads bear too.
         *
         * @param name for people; {@code task} by default
         * @return this
         */
        public Builder name(String name) {
            this.name = Objects.requireNonNull(name, "name");
            return this;
        }

        /**
         * Sets how many processes several workers may drain at the same time; more wait.
         *
         * @param slots 1 to 64, which is the default
         * @return this
         */
        public Builder computeSlots(int slots) {
            ProcessOptions.checkRange("compute slots", slots, 1, ComputeSlots.MAX);
            this.computeSlots = slots;
            return this;
        }

        /**
         * Sets how many threads may be in {@link ProcessExecutor#tryDrainInline} at the same time.
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
         * Sets how many others are woken by whoever makes work, and by each worker that wakes.
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
         * Sets the longest time that a worker with nothing to do looks for more before it sleeps.
         *
         * @param longest 0 to sleep at once
         * @return this
         */
        public Builder spin(Duration longest) {
            this.spinNanos = Math.max(0, longest.toNanos());
            return this;
        }

        /**
         * Sets the size of the workers' stacks.
         *
         * @param bytes 0 for what the virtual machine gives
         * @return this
         */
        public Builder stackBytes(long bytes) {
            this.stackBytes = bytes;
            return this;
        }

        /**
         * Sets how long {@link ProcessExecutor#close()} waits for drains to return.
         *
         * @param limit 30 seconds by default
         * @return this
         */
        public Builder closeLimit(Duration limit) {
            this.closeLimit = limit;
            return this;
        }

        /**
         * Sets the order in which slots are looked at.
         *
         * @param policy {@link ScanPolicy#roundRobin()} by default
         * @return this
         */
        public Builder scanPolicy(ScanPolicy policy) {
            this.scanPolicy = Objects.requireNonNull(policy, "policy");
            return this;
        }

        /**
         * Sets what workers do before they begin.
         *
         * @param setup nothing by default
         * @return this
         */
        public Builder setup(WorkerSetup setup) {
            this.setup = Objects.requireNonNull(setup, "setup");
            return this;
        }

        /**
         * Makes the executor. A worker's thread is started when there is work for it for the first time.
         *
         * @return the executor; the caller closes it
         */
        public ProcessExecutor build() {
            return new ProcessExecutor(this, true);
        }

        /**
         * Makes an executor without threads, whose workers the caller drives one step at a time. For tests.
         *
         * @return the executor; the caller closes it
         */
        public SteppedExecutor buildStepped() {
            return new SteppedExecutor(new ProcessExecutor(this, false));
        }
    }
}

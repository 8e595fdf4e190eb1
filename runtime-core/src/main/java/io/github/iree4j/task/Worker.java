package io.github.iree4j.task;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A worker: looks for processes, drains them, spins and sleeps. */
final class Worker implements Runnable {
    private static final Logger log = LoggerFactory.getLogger(Worker.class);

    /*
     * TASK-17: a worker has no thread before the first wake-up, and counts as asleep. Either the waking thread or
     * close() changes `life` from NEW; so a worker is started once, or never after close() has retired it.
     */
    private static final long NEW = 0;
    private static final long STARTED = 1;
    private static final long RETIRED = 2;

    final ProcessExecutor executor;
    final WorkerContext context;
    private final int index;
    private final WorkerSetup setup;
    private final SpinLimit spin;
    private final int maxSpinners;
    private final WorkerThread thread;
    private final PaddedLong notified = new PaddedLong(); // 1 once claimed from the idle workers; reset by this worker
    private long wokenAt; // published by notified
    private final DrainWatch watch = new DrainWatch();
    private final PaddedLong life = new PaddedLong();
    private int nextSlot;
    private boolean warm;
    boolean spun; // whether the worker has spun since its last work: other threads may have relied on it

    /** The process being drained, for diagnostics. */
    private static final class DrainWatch {
        private static final VarHandle PROCESS;

        static {
            try {
                PROCESS = MethodHandles.lookup().findVarHandle(DrainWatch.class, "process", TaskProcess.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        @SuppressWarnings("unused") // only through PROCESS
        private @Nullable TaskProcess process;

        void setOpaque(@Nullable TaskProcess drained) {
            PROCESS.setOpaque(this, drained);
        }

        @Nullable
        TaskProcess getOpaque() {
            return (TaskProcess) PROCESS.getOpaque(this);
        }
    }

    Worker(ProcessExecutor executor, int index, ProcessExecutor.Builder options, boolean threads) {
        this.executor = executor;
        this.index = index;
        this.context = new WorkerContext(index, false);
        this.setup = options.setup;
        this.spin = new SpinLimit(options.spinNanos);
        this.maxSpinners = Runtime.getRuntime().availableProcessors() / 2;
        this.nextSlot = index;
        life.setVolatile(threads ? NEW : STARTED);
        this.thread = new WorkerThread(this, options.name + "-worker-" + index);
    }

    /** Starts the thread if there is none yet; false when there is a thread or never will be. */
    boolean startIfNew() {
        if (!life.compareAndSetVolatile(NEW, STARTED)) { // TASK-17
            return false;
        }
        boolean started = false;
        try {
            thread.start();
            started = true;
        } finally {
            if (!started) { // out of threads; a later attempt may succeed
                life.setVolatile(NEW);
                executor.wakes().idle().add(index);
            }
        }
        return true;
    }

    /** Prevents a worker without a thread from ever getting a thread; false when a thread exists or is being created. */
    boolean retireIfNew() {
        return life.compareAndSetVolatile(NEW, RETIRED); // TASK-17
    }

    /** Returns whether the thread runs or is being started. */
    private boolean hasThread() {
        Thread.State state = thread.getState(); // read once: the thread may start between two reads
        return state == Thread.State.NEW ? life.getVolatile() == STARTED : state != Thread.State.TERMINATED;
    }

    boolean awaitEnd(long deadline) {
        boolean interrupted = false;
        try {
            while (hasThread()) {
                long left = deadline - System.nanoTime();
                if (left <= 0) {
                    return false;
                }
                if (!thread.isAlive()) { // the starting thread is about to call start()
                    Thread.onSpinWait();
                    continue;
                }
                try {
                    TimeUnit.NANOSECONDS.timedJoin(thread, Math.max(left, 1_000_000));
                } catch (InterruptedException e) {
                    interrupted = true; // continue closing, otherwise the threads would leak
                }
            }
            return true;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Wakes the worker. Called by the thread that claimed the worker from the idle workers. */
    void wakeUp() {
        wokenAt = System.nanoTime();
        notified.setVolatile(1);
        if (life.getVolatile() == STARTED) {
            LockSupport.unpark(thread);
        } else if (!startIfNew()) {
            executor.wakes().wake(1); // retired after the claim: wake another worker
        }
    }

    String draining() {
        TaskProcess process = watch.getOpaque();
        return process == null ? "no drain" : process.toString();
    }

    @Override
    public void run() {
        notified.setVolatile(0);
        try {
            setup.begin(context);
        } catch (Throwable thrown) {
            log.warn("{} of {} runs without its setup", context, executor, thrown);
        }
        try {
            for (; ; ) {
                long seen = executor.signals().getVolatile(); // TASK-12
                if (!turnContained()) {
                    if (executor.isComplete()) {
                        break;
                    }
                    idle(seen);
                }
            }
        } finally {
            try {
                setup.end(context);
            } catch (Throwable thrown) {
                log.warn("{} of {} failed to end its setup", context, executor, thrown);
            }
        }
    }

    private boolean turnContained() {
        try {
            return turn();
        } catch (Throwable thrown) { // not expected: exceptions of processes are caught around their calls
            log.error("{} of {} failed between drains", context, executor, thrown);
            return true;
        }
    }

    /** Looks for work once, on the list and in slots; true when some was done. */
    boolean turn() {
        warm = false;
        executor.wakes().relay();
        boolean worked = false;
        ProcessList list = executor.immediate();
        for (int i = 0; i < Tuning.LIST_BURST; i++) {
            TaskProcess process = list.pop();
            if (process == null) {
                break;
            }
            has(process);
            Drains.drainListed(executor, process, context);
            worked = true;
        }
        return drainSlots() || worked;
    }

    /** Drains one process in a slot, skipping processes without work. */
    private boolean drainSlots() {
        long left = executor.slots().takenVolatile();
        if (left == 0) {
            return false;
        }
        int start = nextSlot;
        for (long rotated = Long.rotateRight(left, start); rotated != 0; rotated &= rotated - 1) {
            int slot = Long.numberOfTrailingZeros(rotated) + start & ComputeSlots.MAX - 1;
            if (visit(slot)) {
                nextSlot = slot + 1;
                return true;
            }
        }
        return false;
    }

    private void has(TaskProcess process) {
        watch.setOpaque(process);
        executor.payWake(context, process); // nothing is owed for a process that this worker drains itself
        if (spun) {
            spun = false;
            lookBehindSpinner();
        }
    }

    /**
     * TASK-14: work arriving while a worker was spinning woke no other worker. If there is more work than this worker's
     * current process, wakes another worker.
     */
    private void lookBehindSpinner() {
        int awake = executor.workers() - executor.sleepingWorkers();
        if (!executor.immediate().isEmpty() || executor.slots().aggregateBudget() > awake) {
            executor.wakes().wake(1);
        }
    }

    private boolean visit(int slot) {
        TaskProcess process = executor.slots().processAcquire(slot);
        if (process == null || !process.isOpenAcquire()) {
            return false;
        }
        has(process);
        switch (Drains.drainShared(executor, process, context)) {
            case WORKED -> {
                return true;
            }
            case WARM -> warm = true;
            case NOTHING -> {}
        }
        return false;
    }

    /** Spins, then sleeps until there is work newer than {@code seen}. */
    private void idle(long seen) {
        watch.setOpaque(null);
        if (spinFindsWork(seen)) {
            return;
        }
        IdleWorkers idle = executor.wakes().idle();
        idle.add(index); // TASK-11
        if (hasNews(seen) || executor.isComplete()) {
            idle.remove(index);
            return;
        }
        context.owesWakeFor = null; // another worker has drained the process
        long begun = System.nanoTime();
        while (notified.getVolatile() == 0) {
            Thread.interrupted(); // a drain may have left the interrupt flag set, which would prevent parking
            LockSupport.park(this);
        }
        long now = System.nanoTime();
        if (wokenAt - begun >= Tuning.SPIN_NANOS) { // otherwise the worker was hardly asleep
            executor.wakeCost().took(now - wokenAt);
        }
        notified.setVolatile(0);
        spun = false; // the waking thread did not count this worker as spinning
        idle.remove(index); // the bit is still set when an earlier claim was late
        spin.slept(now - begun);
    }

    private boolean hasNews(long seen) {
        return executor.signals().getVolatile() != seen || !executor.immediate().isEmpty();
    }

    private boolean spinFindsWork(long seen) {
        boolean wanted = warm || executor.slots().aggregateBudget() > executor.workers() - executor.sleepingWorkers();
        long limit = spin.nanos(wanted);
        PaddedLong spinners = executor.wakes().spinners();
        if (limit == 0 || spinners.getVolatile() >= maxSpinners) {
            return false;
        }
        spinners.getAndAddVolatile(1);
        long deadline = System.nanoTime() + limit;
        boolean found;
        int spins = 0;
        do {
            Thread.onSpinWait();
            found = hasNews(seen) || executor.isClosing();
        } while (!found && (++spins % Tuning.SPINS_PER_LOOK != 0 || System.nanoTime() - deadline < 0));
        spinners.getAndAddVolatile(-1);
        spun = true;
        if (!found) {
            spin.inVain();
            return false;
        }
        spin.paid();
        return true;
    }

    /** Performs one round of the loop of {@link #run}, for a stepping caller; false when the worker sleeps or falls asleep. */
    boolean step() {
        if (executor.wakes().idle().contains(index)) {
            return false;
        }
        notified.setVolatile(0);
        long seen = executor.signals().getVolatile();
        executor.stepping = context;
        try {
            if (turn()) {
                return true;
            }
        } finally {
            executor.stepping = null;
        }
        executor.wakes().idle().add(index);
        if (hasNews(seen)) {
            executor.wakes().idle().remove(index);
            return true;
        }
        context.owesWakeFor = null; // as in idle()
        return false;
    }
}

package io.github.iree4j.task;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One worker: looks for processes, drains them, spins and sleeps. */
final class Worker implements Runnable {
    private static final Logger log = LoggerFactory.getLogger(Worker.class);

    /*
     * TASK-17: a worker has no thread before it is woken for the first time, and counts as asleep. Of whoever starts it and whoever closes the executor one
     * changes `life` from NEW; so it is started once, or never after close() has looked.
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
    private final PaddedLong notified =
            new PaddedLong(); // 1 once claimed from the idle ones; taken back by this worker
    private final DrainWatch watch = new DrainWatch();
    private final PaddedLong life = new PaddedLong();
    private int nextSlot;
    private int nextEntry;
    private boolean warm;
    boolean spun; // since it last had work, so work may have been left to it

    /** What is being drained, for people who ask. */
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
        this.context = new WorkerContext(executor, index, false);
        this.setup = options.setup;
        this.spin = new SpinLimit(options.spinNanos);
        this.maxSpinners = Runtime.getRuntime().availableProcessors() / 2;
        this.nextSlot = index;
        life.setVolatile(threads ? NEW : STARTED);
        this.thread = new WorkerThread(this, options.name + "-worker-" + index, options.stackBytes);
    }

    /** Starts the thread of a worker that has none yet; false when it has one or will never have. */
    boolean startIfNew() {
        if (!life.compareAndSetVolatile(NEW, STARTED)) { // TASK-17
            return false;
        }
        boolean started = false;
        try {
            thread.start();
            started = true;
        } finally {
            if (!started) { // the machine has no more threads; another time it may
                life.setVolatile(NEW);
                executor.wakes().idle().add(index);
            }
        }
        return true;
    }

    /** Keeps a worker that has no thread from ever getting one; false when it has one, or is getting it. */
    boolean retireIfNew() {
        return life.compareAndSetVolatile(NEW, RETIRED); // TASK-17
    }

    /** Whether its thread runs or is being started. */
    private boolean hasThread() {
        Thread.State state = thread.getState(); // looked at once: it may start between two looks
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
                if (!thread.isAlive()) { // whoever starts it is about to
                    Thread.onSpinWait();
                    continue;
                }
                try {
                    TimeUnit.NANOSECONDS.timedJoin(thread, Math.max(left, 1_000_000));
                } catch (InterruptedException e) {
                    interrupted = true; // closing is not given up: the threads would stay
                }
            }
            return true;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Called by whoever has claimed it from the idle ones. */
    void wakeUp() {
        notified.setVolatile(1);
        if (life.getVolatile() == STARTED) {
            LockSupport.unpark(thread);
        } else if (!startIfNew()) {
            executor.wakes().wake(1); // retired after it was claimed: another has to do it
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
            log.warn("{} of {} works without its setup", context, executor, thrown);
        }
        try {
            for (; ; ) {
                long seen = executor.signals().getVolatile(); // TASK-12
                if (!turnContained()) {
                    if (executor.isOver()) {
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
        } catch (Throwable thrown) { // none is expected: what processes throw is contained where they are called
            log.error("{} of {} failed between drains", context, executor, thrown);
            return true;
        }
    }

    /** One look at everything; true when something was done. */
    boolean turn() {
        context.owesWakeFor = null; // this look is what it owed
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

    /** Drains one process in a slot; those that have nothing to do now are tried in passing. */
    private boolean drainSlots() {
        long left = executor.slots().takenVolatile();
        if (left == 0) {
            return false;
        }
        ScanTable.Order order = executor.scan().order();
        if (order != null) {
            int[] entries = order.slots;
            int start = order.beginsAtFirst ? 0 : nextEntry;
            for (int i = 0; i < entries.length; i++) {
                int entry = start + i & entries.length - 1;
                int slot = entries[entry];
                if (slot < 0) { // the end: go on at the beginning, unless that was it
                    if (start == 0) {
                        break;
                    }
                    i += entries.length - entry - 1;
                    continue;
                }
                long bit = 1L << slot;
                if ((left & bit) != 0) {
                    left &= ~bit;
                    if (visit(slot)) {
                        nextEntry = entry + 1;
                        return true;
                    }
                }
            }
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
        if (spun) {
            spun = false;
            lookBehindSpinner();
        }
    }

    /** TASK-14: work that came while a worker spun was left to it; if there is more than the one thing it now has, another is woken. */
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

    /** Spins, then sleeps until there is something to look at that was not there when {@code seen} was read. */
    private void idle(long seen) {
        watch.setOpaque(null);
        if (spinFindsWork(seen)) {
            return;
        }
        IdleWorkers idle = executor.wakes().idle();
        idle.add(index); // TASK-11
        if (hasNews(seen) || executor.isOver()) {
            idle.remove(index);
            return;
        }
        long begun = System.nanoTime();
        while (notified.getVolatile() == 0) {
            Thread.interrupted(); // a drain may have left it set; parking would not park
            LockSupport.park(this);
        }
        notified.setVolatile(0);
        spun = false; // whoever woke it knows that it was not spinning
        idle.remove(index); // still there when an earlier claim was late
        spin.slept(System.nanoTime() - begun);
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

    /** As one round of the loop of {@link #run}, for a caller who drives it; false when it sleeps or falls asleep. */
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
        return false;
    }
}

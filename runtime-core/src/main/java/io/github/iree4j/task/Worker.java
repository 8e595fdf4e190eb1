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

    Worker(ProcessExecutor executor, int index, ProcessExecutor.Builder options) {
        this.executor = executor;
        this.index = index;
        this.context = new WorkerContext(executor, index, false);
        this.setup = options.setup;
        this.spin = new SpinLimit(options.spinNanos);
        this.maxSpinners = Runtime.getRuntime().availableProcessors() / 2;
        this.nextSlot = index;
        this.thread = new WorkerThread(this, options.name + "-worker-" + index, options.stackBytes);
    }

    void start() {
        thread.start();
    }

    boolean awaitEnd(long deadline) {
        boolean interrupted = false;
        try {
            while (thread.isAlive()) {
                long left = deadline - System.nanoTime();
                if (left <= 0) {
                    return false;
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
        LockSupport.unpark(thread);
    }

    String draining() {
        TaskProcess process = watch.getOpaque();
        return process == null ? "no drain" : process.toString();
    }

    @Override
    public void run() {
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
        executor.relayWakes();
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
            executor.lookBehindSpinner(); // TASK-14
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
        IdleWorkers idle = executor.idle();
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
        PaddedLong spinners = executor.spinners();
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
        if (executor.idle().contains(index)) {
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
        executor.idle().add(index);
        if (hasNews(seen)) {
            executor.idle().remove(index);
            return true;
        }
        return false;
    }
}

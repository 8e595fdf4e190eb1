package io.github.iree4j.async.io;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.async.Cancellation;
import io.github.iree4j.lifetime.UseGuard;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Comparator;
import java.util.NoSuchElementException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An event loop receiving completions of external operations and running timers and messages.
 *
 * <p>All work happens inside {@link #poll()}, on the calling thread: the owner, a single thread at a time.
 * {@link #create} makes a proactor driven by its caller; {@link #start} makes a proactor with a dedicated daemon
 * thread, like the proactor shared by the process ({@link SystemIo#ofProcess()}). The owner sleeps on a
 * {@link CompletionSource}, which also delivers the completions; the clock is passed in, so tests can step it.
 *
 * <p>{@link #execute}, {@link #after}, {@link #wake}, {@link #shutdown} and {@link #close} may be called from any
 * thread, including from callbacks. Callbacks run on the owner, in the order in which they became due, and MUST NOT
 * block; exceptions thrown by callbacks are logged.
 *
 * <p><b>Termination.</b> Closing ends all pending work: accepted messages are run, timers and operations end with
 * CANCELLED, each exactly once, and the source is closed once no operation's memory is in use. A failing source ends
 * everything likewise, with its failure. A closed proactor rejects all requests.
 */
@NotForApplications
public final class Proactor implements AutoCloseable {
    /*
     * The owner is RUNNING, or ASLEEP in the source, or ABSENT: a proactor's own thread that was idle and ended.
     *
     *   owner:  RUNNING -> ASLEEP, check for work, sleep, -> RUNNING          (or -> ABSENT, check for work, end)
     *   others: add work, read the word: ASLEEP -> RUNNING and wake the source; ABSENT -> RUNNING and start a thread
     *
     * PROACTOR-1: the word and the work are accessed in sequentially consistent order, so either the owner finds the
     * work after announcing sleep or its end, or the producer finds the announcement. Between two polls of a
     * caller-driven proactor the word is RUNNING: the caller polls again anyway.
     *
     * PROACTOR-2: a timer is in `timers` until removed, by the owner calling the timer or by the thread cancelling it.
     *
     * PROACTOR-3: a thread holds `admission` while adding a message or a timer. Once `admission` is closed and the last
     * holder has left, `sealed` is set; the owner ends only after seeing `sealed` and then finding nothing, so every
     * accepted message or timer is run or ended.
     */
    private static final int RUNNING = 0;
    private static final int ASLEEP = 1;
    private static final int ABSENT = 2;

    /** The most completions and messages of a round: a flood of one kind does not starve the others. A guess. */
    private static final int LIMIT = 256;

    private static final long FARTHEST = Long.MAX_VALUE >> 1; // prevents overflow of the distance of two deadlines
    private static final Logger LOG = LoggerFactory.getLogger(Proactor.class);
    private static final VarHandle OWNER;

    static {
        try {
            OWNER = MethodHandles.lookup().findVarHandle(Proactor.class, "owner", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final String name;
    private final CompletionSource source;
    private final LongSupplier nanoClock;
    private final boolean threaded;
    private final long idleNanos; // negative: the proactor's own thread does not end before the proactor
    private final ConcurrentLinkedQueue<Runnable> messages = new ConcurrentLinkedQueue<>();
    private final ConcurrentSkipListSet<Timer> timers = new ConcurrentSkipListSet<>(Timer.ORDER);
    private final AtomicLong timerCount = new AtomicLong();
    private final AtomicReference<@Nullable Thread> polling = new AtomicReference<>();
    private final CountDownLatch over = new CountDownLatch(1);
    private final UseGuard admission;
    private final UseGuard sourceUse;

    private volatile int owner; // through OWNER for compare-and-set
    private volatile boolean woken;
    private volatile boolean sealed;
    private volatile @Nullable IreeException cause; // set once: the proactor is ending from then on

    private boolean stopped; // owner only, like the next field
    private boolean broken;

    private Proactor(
            String name, CompletionSource source, LongSupplier nanoClock, boolean threaded, @Nullable Duration idle) {
        this.name = name;
        this.source = source;
        this.nanoClock = nanoClock;
        this.threaded = threaded;
        this.idleNanos = idle == null ? CompletionSource.FOREVER : idle.toNanos();
        this.owner = threaded ? ABSENT : RUNNING;
        this.admission = UseGuard.of(this::toString, this::seal);
        this.sourceUse = UseGuard.of(this::toString, source::close);
    }

    /**
     * Creates a proactor driven by its caller through {@link #poll()}.
     *
     * @param name the name in messages
     * @param source the wait object of the owner; the proactor takes ownership
     * @param nanoClock the time in nanoseconds, from any origin
     * @return the proactor; the caller closes it
     */
    public static Proactor create(String name, CompletionSource source, LongSupplier nanoClock) {
        return new Proactor(name, source, nanoClock, false, null);
    }

    /**
     * Creates a proactor with a dedicated daemon thread, running from the first request until the proactor is closed.
     *
     * @param name the name in messages, and of the thread
     * @param source the wait object of the owner; the proactor takes ownership
     * @return the proactor; the caller closes it
     */
    public static Proactor start(String name, CompletionSource source) {
        return new Proactor(name, source, System::nanoTime, true, null);
    }

    /**
     * As {@link #start(String, CompletionSource)}, with a thread that ends after an idle period and is started again
     * when there is work.
     *
     * @param name the name in messages, and of the thread
     * @param source the wait object of the owner; the proactor takes ownership
     * @param idle how long the thread outlives its last work
     * @return the proactor; the caller closes it
     */
    public static Proactor start(String name, CompletionSource source, Duration idle) {
        return new Proactor(name, source, System::nanoTime, true, idle);
    }

    /**
     * Returns the proactor shared by the process, with a daemon thread that ends when idle.
     *
     * @return the proactor; never closed
     */
    public static Proactor ofProcess() {
        return SystemIo.ofProcess().proactor();
    }

    /** A callback that becomes due at a deadline. */
    private final class Timer implements Cancellation {
        static final Comparator<Timer> ORDER = (a, b) -> {
            long distance = a.deadline - b.deadline;
            return distance != 0 ? Long.signum(distance) : Long.compare(a.number, b.number);
        };

        private final long deadline;
        private final long number = timerCount.getAndIncrement();
        private final Completion completion;

        Timer(long deadline, Completion completion) {
            this.deadline = deadline;
            this.completion = completion;
        }

        @Override
        public boolean cancel() {
            return timers.remove(this); // PROACTOR-2
        }
    }

    /**
     * Runs a message on the owner, in FIFO order. From any thread.
     *
     * @param message the action to run; the rules of {@link Completion} hold
     * @throws IreeException FAILED_PRECONDITION when closed, the failure of a lost source
     */
    public void execute(Runnable message) {
        admit();
        try {
            messages.add(message);
        } finally {
            admission.exit();
        }
        alert();
    }

    /**
     * Schedules a callback. From any thread.
     *
     * @param delay the delay from now; zero or negative is due at once
     * @param onDue called with 0 when due, with a failure when the proactor ends first
     * @return cancels the callback: if the cancellation succeeds, the callback is never called
     * @throws IreeException FAILED_PRECONDITION when closed, the failure of a lost source
     */
    public Cancellation after(Duration delay, Completion onDue) {
        long nanos = delay.compareTo(Duration.ofNanos(FARTHEST)) >= 0 ? FARTHEST : Math.max(0, nanos(delay));
        Timer timer;
        admit();
        try {
            timer = new Timer(nanoClock.getAsLong() + nanos, onDue);
            timers.add(timer);
        } finally {
            admission.exit();
        }
        alert();
        return timer;
    }

    private static long nanos(Duration duration) {
        return duration.isNegative() ? 0 : duration.toNanos();
    }

    /**
     * Ends the current or the next sleep of the owner, and restarts an ended owner thread. From any thread; no effect
     * when closed.
     */
    public void wake() {
        woken = true;
        alert();
    }

    /** Begins to close, and returns at once. From any thread; idempotent. */
    public void shutdown() {
        end(IreeException.of(StatusCode.CANCELLED, this + " was closed"));
    }

    /**
     * Closes, and returns when everything has ended: waits for the proactor's own thread, or polls a caller-driven
     * proactor here unless another thread is in {@link #poll()}, which then ends the proactor. From a callback, only
     * begins to close.
     */
    @Override
    public void close() {
        shutdown();
        if (isOwner()) {
            return;
        }
        while (!threaded && over.getCount() > 0 && polling.compareAndSet(null, Thread.currentThread())) {
            try {
                round(CompletionSource.FOREVER);
            } finally {
                polling.set(null);
            }
        }
        boolean interrupted = false;
        while (over.getCount() > 0) {
            try {
                over.await();
            } catch (InterruptedException e) {
                interrupted = true; // go on: the memory of operations is in use until they have ended
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Returns whether the calling thread is polling, in other words running a callback.
     *
     * @return true if the thread must not wait for anything completed by this proactor
     */
    public boolean isOwner() {
        return Thread.currentThread().equals(polling.get());
    }

    /**
     * Returns whether everything has ended.
     *
     * @return true once no callback can run
     */
    public boolean isClosed() {
        return over.getCount() == 0;
    }

    /**
     * Returns why the proactor ends.
     *
     * @return CANCELLED once the proactor is being closed, the failure of a lost source, null while the proactor works
     */
    public @Nullable IreeException failure() {
        return cause;
    }

    /**
     * Runs due work, without blocking. For the owner of a caller-driven proactor.
     *
     * @return the number of callbacks called
     * @throws IreeException FAILED_PRECONDITION on a second thread, from a callback, or when the proactor has a
     *     dedicated thread
     */
    public int poll() {
        return pollFor(0);
    }

    /**
     * Runs due work; if nothing is due, blocks until something is due, {@link #wake} is called or the timeout expires,
     * and then runs due work. For the owner of a caller-driven proactor.
     *
     * @param timeout the longest time to block; negative blocks until something happens
     * @return the number of callbacks called; may be 0 when woken early
     * @throws IreeException FAILED_PRECONDITION on a second thread, from a callback, or when the proactor has a
     *     dedicated thread
     */
    public int poll(Duration timeout) {
        return pollFor(
                timeout.isNegative()
                        ? CompletionSource.FOREVER
                        : timeout.compareTo(Duration.ofNanos(FARTHEST)) >= 0 ? FARTHEST : timeout.toNanos());
    }

    private int pollFor(long timeoutNanos) {
        if (threaded || !polling.compareAndSet(null, Thread.currentThread())) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    this + (threaded ? " has an owner thread" : " is being polled already"));
        }
        try {
            return round(timeoutNanos);
        } finally {
            polling.set(null);
        }
    }

    private void admit() {
        if (!admission.tryEnter()) {
            IreeException why = cause;
            throw why != null && why.code() != StatusCode.CANCELLED
                    ? why.during("use of " + this)
                    : IreeException.of(StatusCode.FAILED_PRECONDITION, this + " is closed");
        }
    }

    private void seal() {
        sealed = true;
        alert();
    }

    private void end(IreeException why) {
        synchronized (over) {
            if (cause == null) {
                cause = why;
            }
        }
        admission.close();
        alert();
    }

    /** Makes the owner check for work. */
    private void alert() {
        for (; ; ) {
            switch (owner) { // PROACTOR-1
                case RUNNING -> {
                    return;
                }
                case ASLEEP -> {
                    if (OWNER.compareAndSet(this, ASLEEP, RUNNING)) {
                        wakeSource();
                        return;
                    }
                }
                default -> {
                    if (over.getCount() == 0) {
                        return;
                    }
                    if (OWNER.compareAndSet(this, ABSENT, RUNNING)) {
                        startOwner();
                        return;
                    }
                }
            }
        }
    }

    private void wakeSource() {
        if (sourceUse.tryEnter()) {
            try {
                source.wake();
            } finally {
                sourceUse.exit();
            }
        }
    }

    private void startOwner() {
        boolean started = false;
        try {
            Thread.ofPlatform().daemon().name(name).start(this::run);
            started = true;
        } finally {
            if (!started) {
                owner = ABSENT;
            }
        }
    }

    private void run() {
        while (!polling.compareAndSet(null, Thread.currentThread())) {
            Thread.onSpinWait(); // the previous owner thread has a few instructions left
        }
        try {
            long idleSince = nanoClock.getAsLong();
            while (over.getCount() > 0) {
                if (round(idleNanos) > 0 || !isQuiet()) {
                    idleSince = nanoClock.getAsLong();
                } else if (idleNanos >= 0 && nanoClock.getAsLong() - idleSince >= idleNanos) {
                    owner = ABSENT; // PROACTOR-1
                    if (isQuiet() || !OWNER.compareAndSet(this, ABSENT, RUNNING)) {
                        return;
                    }
                }
            }
        } finally {
            polling.set(null);
        }
    }

    private boolean isQuiet() {
        return !woken && cause == null && messages.isEmpty() && timers.isEmpty() && source.pending() == 0;
    }

    /** Runs due work, or sleeps first. */
    private int round(long timeoutNanos) {
        if (over.getCount() == 0) {
            return 0;
        }
        int ran = runDue();
        if (ran == 0 && timeoutNanos != 0 && over.getCount() > 0) {
            sleep(timeoutNanos);
            ran = runDue();
        }
        return ran;
    }

    private void sleep(long timeoutNanos) {
        owner = ASLEEP; // PROACTOR-1
        try {
            if (!woken && messages.isEmpty() && (cause == null || endIsToCome())) {
                source.await(untilDue(timeoutNanos));
            }
        } catch (Throwable t) { // anything: no caller may wait for an absent owner
            lost(t);
        } finally {
            owner = RUNNING;
        }
        woken = false;
    }

    /** Returns whether closing has begun and waits for other threads or operations. */
    private boolean endIsToCome() {
        return stopped && timers.isEmpty() && (!sealed || !broken && source.pending() > 0);
    }

    private long untilDue(long timeoutNanos) {
        Timer first = firstTimer();
        if (first == null) {
            return timeoutNanos;
        }
        long left = Math.max(0, first.deadline - nanoClock.getAsLong());
        return timeoutNanos < 0 ? left : Math.min(left, timeoutNanos);
    }

    private @Nullable Timer firstTimer() {
        try {
            return timers.isEmpty() ? null : timers.first();
        } catch (NoSuchElementException cancelled) {
            return null;
        }
    }

    private int runDue() {
        int ran = runMessages() + runTimers();
        if (!broken) {
            try {
                ran += source.poll(LIMIT);
            } catch (Throwable t) {
                lost(t);
            }
        }
        if (cause != null) {
            ran += runEnd(cause);
        }
        return ran;
    }

    private int runMessages() {
        int ran = 0;
        for (Runnable message; ran < LIMIT && (message = messages.poll()) != null; ran++) {
            try {
                message.run();
            } catch (Throwable t) {
                LOG.error("a message of {} threw", this, t);
            }
        }
        return ran;
    }

    private int runTimers() {
        int ran = 0;
        long now =
                // read once: timers added by callbacks wait for the next round; otherwise this loop might not end
                nanoClock.getAsLong();
        for (Timer first; (first = firstTimer()) != null && first.deadline - now <= 0; ) {
            if (timers.remove(first)) { // PROACTOR-2
                call(first, null);
                ran++;
            }
        }
        return ran;
    }

    private void call(Timer timer, @Nullable IreeException failure) {
        try {
            timer.completion.ended(0, failure);
        } catch (Throwable t) {
            LOG.error("a timer of {} threw", this, t);
        }
    }

    private void lost(Throwable thrown) {
        IreeException why = thrown instanceof IreeException failure
                ? failure
                : IreeException.of(StatusCode.INTERNAL, this + " failed: " + thrown, thrown);
        if (broken) {
            return;
        }
        broken = stopped; // a source failing even in stop() is not called again
        LOG.error("{} has lost the source of its completions", this, thrown);
        end(why);
    }

    /** Makes one step of closing; the last step closes the source. */
    private int runEnd(IreeException why) {
        int ran = 0;
        if (!stopped) {
            stopped = true;
            try {
                source.stop(why);
            } catch (Throwable t) {
                lost(t);
            }
        }
        for (Timer each; (each = timers.pollFirst()) != null; ran++) { // PROACTOR-2
            call(each, why);
        }
        // PROACTOR-3: in this order
        if (sealed && messages.isEmpty() && timers.isEmpty() && (broken || source.pending() == 0)) {
            sourceUse.close();
            over.countDown();
        }
        return ran;
    }

    @Override
    public String toString() {
        return "proactor '" + name + "'";
    }
}

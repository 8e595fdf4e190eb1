package io.github.iree4j.spring;

import io.github.iree4j.Program;
import io.github.iree4j.async.CallThreads;
import io.github.iree4j.hal.AwaitedDevice;
import io.github.iree4j.modules.parameters.ParameterProgress;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A version of a program: the source, the status, and the program once loaded.
 *
 * <p>All calls finding the program not loaded share one load, on a separate thread. A call waits for the load, with a
 * limit and interruptibly; the end of a wait leaves the load as it is. Only the end of the application, an unload, and
 * the time limit of loading end a load early. A load ended early has not shown that the program cannot be loaded: the
 * state is UNLOADED afterwards, and the next call begins another load, unless the program was unloaded.
 *
 * <p>Reloads share loads too: a reload joins a load that has not begun to read. The files may have changed since another
 * began.
 */
final class ProgramSlot {

    private static final Logger log = LoggerFactory.getLogger(ProgramSlot.class);

    /** Time for a load to end once an unload has cancelled the load. */
    private static final Duration ENDING = Duration.ofSeconds(5);

    private final Programs programs;
    /** Held while loading, unloading and changing the source; not while calling. Fair: loads and unloads take effect in order. */
    private final ReentrantLock lock = new ReentrantLock(true);

    private volatile @Nullable LoadedProgram loaded;
    private volatile @Nullable LoadedProgram next; // written under lock: a program from its checks until loaded
    // Written under the monitor, which is held only for this field and the next three.
    private volatile ProgramStatus status;
    private @Nullable Report loading;
    private final Deque<AwaitedLoad> awaited = new ArrayDeque<>(); // the loads others may wait for, the oldest first
    private int unloads; // waiting for the end of a load
    private volatile boolean wanted = true; // written under lock: whether a call may load the program
    private final Predecessors predecessors = new Predecessors(); // guarded by lock

    /** A load until its end, or until nobody waits for the load any more. */
    private static final class AwaitedLoad {
        final CompletableFuture<LoadedProgram> outcome = new CompletableFuture<>();
        // Guarded by the monitor of the slot.
        boolean again; // whether a loaded program is loaded again
        boolean reads; // whether the load may have read files

        AwaitedLoad(boolean again) {
            this.again = again;
        }
    }

    ProgramSlot(Programs programs, ProgramSource source) {
        this.programs = programs;
        this.status = new ProgramStatus(
                source, ProgramState.UNLOADED, "", 0, null, Instant.now(), Duration.ZERO, null, List.of());
    }

    ProgramStatus status() {
        return status;
    }

    ProgramSource source() {
        return status.source();
    }

    @Nullable
    LoadedProgram loaded() {
        return loaded;
    }

    /** Returns the program like {@link #require}, but begins a load on this thread, where an interrupt ends the load. */
    LoadedProgram requireHere(Duration limit) {
        return outcome(begin(Runnable::run, false), limit);
    }

    /**
     * Returns the program, waiting for a load on another thread if necessary.
     *
     * @throws IreeException DEADLINE_EXCEEDED when the load has not ended within the limit, CANCELLED when this thread
     *     is interrupted; the load continues in both cases
     */
    LoadedProgram require(Duration limit) {
        LoadedProgram now = loaded;
        return now != null ? now : outcome(requireAsync(), limit);
    }

    /** Returns the program, or the load on another thread, which begins unless in progress. The caller must not complete the future. */
    CompletableFuture<LoadedProgram> requireAsync() {
        return begin(this::onAnotherThread, false);
    }

    private void onAnotherThread(Runnable load) {
        CallThreads.forNativeWaits("iree4j-load " + source().name(), load).start();
    }

    private CompletableFuture<LoadedProgram> begin(Executor loader, boolean again) {
        LoadedProgram now = loaded;
        if (now != null && !again) {
            return CompletableFuture.completedFuture(now);
        }
        AwaitedLoad load = new AwaitedLoad(again);
        synchronized (this) {
            AwaitedLoad joined = again ? awaited.peekLast() : awaited.peekFirst();
            if (joined != null && !(again && joined.reads)) {
                joined.again |= again; // a load for calls would not read where another has loaded the program meanwhile
                return joined.outcome;
            }
            try {
                if (again) {
                    programs.requireServing(source());
                } else {
                    requireLoadable();
                }
            } catch (IreeException e) {
                return CompletableFuture.failedFuture(e);
            }
            awaited.addLast(load);
        }
        try {
            loader.execute(() -> finish(load));
        } catch (RuntimeException | Error e) { // also without memory for a thread
            end(load, null, e);
        }
        return load.outcome;
    }

    private void finish(AwaitedLoad load) {
        try {
            end(load, load(load), null);
        } catch (IreeException e) { // not loadable
            end(load, null, e);
        } catch (RuntimeException | Error e) {
            IreeException early = earlyEnd(e);
            end(
                    load,
                    null,
                    early == null ? notLoaded(e) : IreeException.of(early.code(), String.valueOf(e.getMessage()), e));
        }
    }

    private void end(AwaitedLoad load, @Nullable LoadedProgram program, @Nullable Throwable failure) {
        synchronized (this) {
            awaited.remove(load); // before the end is known: callers knowing a failure may begin another load
        }
        if (failure == null) {
            load.outcome.complete(program);
        } else {
            load.outcome.completeExceptionally(failure);
        }
    }

    /** Ends all waits for loads, which may go on: loads that have not begun to read do not begin any more. */
    void endWaits(IreeException why) {
        List<AwaitedLoad> ended;
        synchronized (this) {
            ended = List.copyOf(awaited);
            awaited.clear();
        }
        ended.forEach(load -> load.outcome.completeExceptionally(why));
    }

    private LoadedProgram load(AwaitedLoad load) {
        lock.lock();
        try {
            boolean again;
            synchronized (this) {
                if (!awaited.contains(load)) {
                    throw IreeException.of(
                            StatusCode.CANCELLED, "nobody waits for the load of program " + source().describe());
                }
                load.reads = true;
                again = load.again;
            }
            LoadedProgram now = loaded;
            if (now != null && !again) {
                return now;
            }
            if (!again) {
                requireLoadable();
            }
            return load(source(), false);
        } finally {
            lock.unlock();
        }
    }

    /** Fails when a call must not load the program. */
    private void requireLoadable() {
        programs.requireServing(source());
        ProgramStatus now = status;
        if (now.state() == ProgramState.FAILED) {
            throw notLoaded(now.failure());
        }
        if (now.state() == ProgramState.UNLOADED && !wanted) {
            throw programs.unloaded(source());
        }
    }

    /**
     * Makes the failure of every call of a program that could not be loaded, of the call that began the load too. The
     * reason is the operator's, and is in the log.
     */
    private IreeException notLoaded(@Nullable Throwable reason) {
        String program = source().describe();
        boolean comes = reason != null
                && reason.getCause() instanceof IreeException cause
                && cause.detail(AwaitedDevice.class).isPresent();
        return IreeException.of(
                StatusCode.FAILED_PRECONDITION,
                "program %s is not available: %s; %s"
                        .formatted(
                                program,
                                reason == null ? "" : reason.getMessage(),
                                comes
                                        ? "the program is loaded when the device is there"
                                        : "correct the cause and load the program again"),
                reason,
                new ClientText("program %s could not be loaded; the server's log has the reason".formatted(program)));
    }

    private LoadedProgram outcome(CompletableFuture<LoadedProgram> load, Duration limit) {
        if (!load.isDone() && lock.isHeldByCurrentThread()) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    "program %s is needed for loading the same program; look it up later, with an 'ObjectProvider'"
                            .formatted(source().describe()));
        }
        try {
            return load.get(TimeUnit.NANOSECONDS.convert(limit), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw IreeException.of(
                    StatusCode.CANCELLED,
                    "interrupted while program %s is loaded; loading continues".formatted(source().describe()),
                    e);
        } catch (TimeoutException e) {
            throw IreeException.of(
                    StatusCode.DEADLINE_EXCEEDED,
                    "program %s is still being loaded (%s) after a wait of %d ms, the limit; loading continues, try again later"
                            .formatted(
                                    source().describe(),
                                    status.step(),
                                    limit.plusNanos(999_999).toMillis()),
                    e);
        } catch (ExecutionException e) {
            throw failure(e.getCause());
        }
    }

    /** Makes a failure with the stack of the waiting caller; the original failure is the cause. */
    private static IreeException failure(@Nullable Throwable cause) {
        return cause instanceof IreeException e
                ? IreeException.of(e.code(), e.getMessage(), e)
                : IreeException.of(StatusCode.INTERNAL, "loading failed: " + cause, cause);
    }

    /** Loads the program anew; the current program, if any, serves until then, and stays if loading fails. */
    LoadedProgram load(ProgramSource source, boolean copy) {
        lock.lock();
        try {
            long start = System.nanoTime();
            LoadedProgram before = loaded;
            LoadedProgram fresh;
            Report report = new Report(source);
            try {
                fresh = programs.open(source, report, copy, report::requireNoUnload);
                check(fresh, () -> {
                    programs.requireServing(source);
                    programs.check(fresh);
                    if (report.ends() != Unload.NONE) { // a load does not always end when cancelled
                        throw report.cancelled();
                    }
                });
            } catch (RuntimeException | Error e) {
                if (report.ends() == Unload.LEFT) {
                    unloadLocked();
                } else if (before == null) {
                    ProgramState state = earlyEnd(e) == null ? ProgramState.FAILED : ProgramState.UNLOADED;
                    become(source, state, since(start), e, List.of());
                } else {
                    become(before.source(), ProgramState.READY, since(start), e, predecessors.changes());
                }
                throw e;
            }
            become(source, fresh, since(start));
            try {
                programs.requireOpen(source); // closing may have given up waiting for this load
            } catch (RuntimeException e) {
                unloadLocked();
                throw new ProgramLoadException(source, e);
            }
            return fresh;
        } finally {
            next = null;
            lock.unlock();
        }
    }

    /** Returns why a load was cancelled, late, or refused by a stopping application; null when the load itself has failed. */
    private @Nullable IreeException earlyEnd(Throwable failure) {
        return failure instanceof ProgramLoadException
                        && failure.getCause() instanceof IreeException cause
                        && (cause.code() == StatusCode.CANCELLED
                                || cause.code() == StatusCode.DEADLINE_EXCEEDED
                                || !programs.isServing())
                ? cause
                : null;
    }

    private void check(LoadedProgram fresh, Runnable checks) {
        next = fresh;
        try {
            checks.run();
        } catch (RuntimeException e) {
            fresh.instances().forEach(Program::close);
            throw new ProgramLoadException(fresh.source(), e);
        }
    }

    /** Checks the loaded program, and a program about to be loaded whose checks may have begun without this check. */
    void check(Consumer<? super LoadedProgram> added) {
        LoadedProgram soon = next; // read first: no longer the next program once loaded
        LoadedProgram now = loaded;
        if (soon != null && soon != now) {
            added.accept(soon);
        }
        if (now != null) {
            added.accept(now);
        }
    }

    /** Takes over a program loaded elsewhere; replaces the current program, if any. */
    LoadedProgram register(LoadedProgram fresh) {
        lock.lock();
        try {
            check(fresh, () -> programs.check(fresh));
            become(fresh.source(), fresh, Duration.ZERO);
            return fresh;
        } finally {
            next = null;
            lock.unlock();
        }
    }

    /** Puts a program in the place of the current or a previously unloaded program, whose callers are handed over. */
    private void become(ProgramSource source, LoadedProgram fresh, Duration loadTime) {
        LoadedProgram before = loaded;
        programs.setTimeout(fresh);
        programs.retired().remember(fresh);
        loaded = fresh;
        programs.setTimeout(fresh); // again: limits changed before the program was listed
        wanted = true;
        become(source, ProgramState.READY, loadTime, null, predecessors.compare(fresh.program()));
        if (before != null) {
            before.retire(fresh);
            programs.retired().end(before);
        }
        predecessors.handOver(fresh.program());
    }

    /** Loads the program again from its location, on this thread unless such a load is about to begin. */
    LoadedProgram reloadHere(Duration limit) {
        return reload(Runnable::run, limit);
    }

    /**
     * Loads the program again from its location, on another thread, and waits for the load.
     *
     * @throws IreeException as {@link #require}, and when an unload or the end of the application ended the wait
     * @throws ProgramLoadException when the program could not be loaded
     */
    LoadedProgram reload(Duration limit) {
        return reload(this::onAnotherThread, limit);
    }

    private LoadedProgram reload(Executor loader, Duration limit) {
        try {
            return outcome(begin(loader, true), limit);
        } catch (IreeException e) { // of all waiters; operators see the reason
            throw e.getCause() instanceof IreeException shared
                            && shared.getCause() instanceof ProgramLoadException failed
                    ? new ProgramLoadException(failed.source(), failed.getCause())
                    : e;
        }
    }

    /**
     * Closes the program, and cancels loads; returns whether a program was loaded.
     *
     * @throws IreeException UNAVAILABLE when a load does not end although cancelled; the program is closed afterwards
     */
    boolean unload() {
        return unload(ENDING);
    }

    /** Closes the program like {@link #unload()}, however long a cancelled load takes to end. */
    boolean unloadFinally() {
        return unload(null);
    }

    private boolean unload(@Nullable Duration limit) {
        beginUnload();
        try {
            awaitLock(limit);
            try {
                return unloadLocked();
            } finally {
                lock.unlock();
            }
        } finally {
            endUnload();
        }
    }

    private void beginUnload() {
        synchronized (this) {
            unloads++;
        }
        endWaits(IreeException.of(
                StatusCode.CANCELLED,
                "the load of program %s was cancelled: an operator has unloaded the program"
                        .formatted(source().describe())));
    }

    private synchronized void endUnload() {
        unloads--;
    }

    private void awaitLock(@Nullable Duration limit) {
        if (lock.tryLock()) {
            return;
        }
        synchronized (this) {
            if (loading != null && loading.unload == Unload.NONE) {
                loading.unload = Unload.WAITS;
            }
        }
        programs.cancelLoads(source());
        if (limit == null) {
            lock.lock();
            return;
        }
        try {
            if (lock.tryLock(limit.toNanos(), TimeUnit.NANOSECONDS)) {
                return;
            }
            if (leaveToLoad()) {
                throw IreeException.of(
                        StatusCode.UNAVAILABLE,
                        "program %s will be unloaded once its load (%s) ends, which was cancelled and does not end yet"
                                .formatted(source().describe(), status.step()));
            }
            lock.lock(); // soon
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw IreeException.of(
                    StatusCode.CANCELLED,
                    "interrupted before program %s was unloaded".formatted(source().describe()),
                    e);
        }
    }

    /** Leaves the unload to a load that does not end; returns false when the load is ending, or there is none. */
    private synchronized boolean leaveToLoad() {
        if (loading == null || loading.ends) {
            return false;
        }
        loading.unload = Unload.LEFT;
        return true;
    }

    private boolean unloadLocked() {
        LoadedProgram before = loaded;
        loaded = null;
        wanted = false;
        become(source(), ProgramState.UNLOADED, status.loadTime(), null, List.of());
        if (before != null) {
            before.retire(programs.unloaded(source()));
            programs.retired().end(before);
            predecessors.unloaded(before.instances());
        }
        return before != null;
    }

    /** Closes the program for good, within the remaining time in nanoseconds: a load in progress may never end. */
    void close(long nanos) {
        endWaits(programs.unloaded(source())); // calls do not wait for a load that may never end
        boolean locked = false;
        try {
            locked = lock.tryLock()
                    || lock.tryLock(nanos, TimeUnit.NANOSECONDS); // also without remaining time, or with an interrupt
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (locked) {
            try {
                unloadLocked();
            } finally {
                lock.unlock();
            }
            return;
        }
        log.warn(
                "program {} is still being loaded, which does not end ({}); it is left behind",
                source().describe(),
                status.step());
        LoadedProgram before = loaded;
        if (before != null) {
            before.retire(programs.unloaded(source()));
        }
    }

    private static Duration since(long start) {
        return Duration.ofNanos(System.nanoTime() - start);
    }

    /** The action of an unload on a load in progress: cancelled the load and waits, or left the unload to the load. */
    private enum Unload {
        NONE,
        WAITS,
        LEFT
    }

    /** Progress of a load; ignored after the end of the load. */
    private final class Report implements ProgramOpening.Progress {
        private final ProgramSource source;
        private Unload unload; // guarded by the monitor of the slot, as is the next field
        private boolean ends; // whether the outcome is decided: an unload waits for the lock then

        Report(ProgramSource source) {
            this.source = source;
            synchronized (ProgramSlot.this) {
                loading = this;
                unload = unloads > 0 ? Unload.WAITS : Unload.NONE;
            }
        }

        void requireNoUnload() {
            synchronized (ProgramSlot.this) {
                if (unload == Unload.NONE) {
                    return;
                }
            }
            throw cancelled();
        }

        IreeException cancelled() {
            return IreeException.of(
                    StatusCode.CANCELLED,
                    "cancelled, since an operator has unloaded program %s".formatted(source.describe()));
        }

        /** Decides the outcome of the load; returns the action of an unload until then. */
        Unload ends() {
            synchronized (ProgramSlot.this) {
                ends = true;
                return unload;
            }
        }

        @Override
        public void report(ProgramState state, String step, double done, @Nullable ParameterProgress parameters) {
            ProgramStatus now;
            synchronized (ProgramSlot.this) {
                if (loading != this) {
                    return;
                }
                ProgramStatus before = status;
                Instant since = before.state() == state ? before.since() : Instant.now();
                now = new ProgramStatus(
                        source, state, step, done, parameters, since, before.loadTime(), null, List.of());
                status = now;
            }
            programs.changed(now);
        }
    }

    private void become(
            ProgramSource source,
            ProgramState state,
            Duration loadTime,
            @Nullable Throwable failure,
            List<String> different) {
        double done = state == ProgramState.READY ? 1 : 0;
        ProgramStatus now =
                new ProgramStatus(source, state, "", done, null, Instant.now(), loadTime, failure, different);
        synchronized (this) {
            loading = null;
            status = now;
        }
        programs.changed(now);
    }
}

package io.github.iree4j.spring;

import io.github.iree4j.Program;
import io.github.iree4j.async.CallThreads;
import io.github.iree4j.modules.parameters.ParameterProgress;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A version of a program: the source, the status, and the program once loaded.
 *
 * <p>All calls finding the program not loaded share one load, which runs on a thread of its own. A call waits for the
 * load, with a limit and interruptibly; the end of a wait leaves the load as it is. Only the end of the application and
 * the time limit of loading end a load early. A load ended early has not shown that the program cannot be loaded: the
 * state is UNLOADED afterwards, and the next call begins another load.
 */
final class ProgramSlot {

    private static final Logger log = LoggerFactory.getLogger(ProgramSlot.class);

    private final Programs programs;
    /** Held while loading, unloading and changing the source; not while calling. */
    private final ReentrantLock lock = new ReentrantLock();

    private volatile @Nullable LoadedProgram loaded;
    // Written under the monitor, which is held only for this field and the next two.
    private volatile ProgramStatus status;
    private @Nullable Report loading;
    private @Nullable CompletableFuture<LoadedProgram> awaited; // the load begun by calls, until its end
    private volatile boolean wanted = true; // written under lock: whether a call may load the program
    private @Nullable ProgramInterface last; // guarded by lock: interface of the last loaded program
    // guarded by lock: differences of the last loaded program from its predecessor
    private List<String> changes = List.of();
    // guarded by lock: unloaded instances without a successor
    private List<WeakReference<Program>> unloaded = List.of();

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
        return outcome(begin(Runnable::run), limit);
    }

    /**
     * Returns the program, waiting for a load on another thread if necessary.
     *
     * @throws IreeException DEADLINE_EXCEEDED when the load takes longer than the limit; CANCELLED when this thread is
     *     interrupted, and the thread stays interrupted; the load continues in both cases
     */
    LoadedProgram require(Duration limit) {
        LoadedProgram now = loaded;
        return now != null ? now : outcome(requireAsync(), limit);
    }

    /** Returns the program, or the load on another thread, which begins unless in progress. The caller must not complete the future. */
    CompletableFuture<LoadedProgram> requireAsync() {
        return begin(load -> CallThreads.forNativeWaits("iree4j-load " + source().name(), load)
                .start());
    }

    private CompletableFuture<LoadedProgram> begin(Executor loader) {
        LoadedProgram now = loaded;
        if (now != null) {
            return CompletableFuture.completedFuture(now);
        }
        CompletableFuture<LoadedProgram> outcome = new CompletableFuture<>();
        synchronized (this) {
            if (awaited != null) {
                return awaited;
            }
            awaited = outcome;
        }
        try {
            requireLoadable();
            loader.execute(() -> finish(outcome));
        } catch (RuntimeException | Error e) { // also without memory for a thread
            end(outcome, null, e);
        }
        return outcome;
    }

    private void finish(CompletableFuture<LoadedProgram> outcome) {
        try {
            end(outcome, loadIfNecessary(), null);
        } catch (IreeException e) { // not loadable
            end(outcome, null, e);
        } catch (RuntimeException | Error e) {
            IreeException early = earlyEnd(e);
            end(
                    outcome,
                    null,
                    early == null ? notLoaded(e) : new IreeException(early.code(), String.valueOf(e.getMessage()), e));
        }
    }

    private void end(
            CompletableFuture<LoadedProgram> outcome, @Nullable LoadedProgram program, @Nullable Throwable failure) {
        synchronized (this) {
            awaited = null; // before the end is known: callers knowing a failure may begin another load
        }
        if (failure == null) {
            outcome.complete(program);
        } else {
            outcome.completeExceptionally(failure);
        }
    }

    private LoadedProgram loadIfNecessary() {
        lock.lock();
        try {
            LoadedProgram now = loaded;
            if (now != null) {
                return now;
            }
            requireLoadable();
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
        return new IreeException(
                StatusCode.FAILED_PRECONDITION,
                "program %s is not available: %s; correct the cause and load the program again"
                        .formatted(program, reason == null ? "" : reason.getMessage()),
                reason,
                new ClientText("program %s could not be loaded; the server's log has the reason".formatted(program)));
    }

    private LoadedProgram outcome(CompletableFuture<LoadedProgram> load, Duration limit) {
        if (!load.isDone() && lock.isHeldByCurrentThread()) {
            throw new IreeException(
                    StatusCode.FAILED_PRECONDITION,
                    "program %s is needed for loading the same program; look it up later, with an 'ObjectProvider'"
                            .formatted(source().describe()));
        }
        try {
            return load.get(TimeUnit.NANOSECONDS.convert(limit), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IreeException(
                    StatusCode.CANCELLED,
                    "interrupted while program %s is loaded; loading continues".formatted(source().describe()),
                    e);
        } catch (TimeoutException e) {
            throw new IreeException(
                    StatusCode.DEADLINE_EXCEEDED,
                    "program %s is still being loaded (%s) after a wait of %d ms, the limit; loading continues, try again later"
                            .formatted(source().describe(), status.step(), limit.toMillis()),
                    e);
        } catch (ExecutionException e) {
            throw failure(e.getCause());
        }
    }

    /** Makes a failure with the stack of the waiting caller; the original failure is the cause. */
    private static IreeException failure(@Nullable Throwable cause) {
        return cause instanceof IreeException e
                ? new IreeException(e.code(), e.getMessage(), e)
                : new IreeException(StatusCode.INTERNAL, "loading failed: " + cause, cause);
    }

    /** Loads the program anew; the current program, if any, serves until then, and stays if loading fails. */
    LoadedProgram load(ProgramSource source, boolean copy) {
        lock.lock();
        try {
            long start = System.nanoTime();
            LoadedProgram before = loaded;
            LoadedProgram fresh;
            try {
                fresh = checked(programs.open(source, new Report(source), copy));
            } catch (RuntimeException | Error e) {
                if (before == null) {
                    ProgramState state = earlyEnd(e) == null ? ProgramState.FAILED : ProgramState.UNLOADED;
                    become(source, state, since(start), e, List.of());
                } else {
                    become(before.source(), ProgramState.READY, since(start), e, changes);
                }
                throw e;
            }
            become(source, fresh, since(start));
            try {
                programs.requireServing(source); // again: closing may have given up waiting for this load
            } catch (RuntimeException e) {
                unload();
                throw new ProgramLoadException(source, e);
            }
            return fresh;
        } finally {
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

    private LoadedProgram checked(LoadedProgram fresh) {
        try {
            programs.requireServing(fresh.source());
            programs.check(fresh);
            return fresh;
        } catch (RuntimeException e) {
            fresh.instances().forEach(Program::close);
            throw new ProgramLoadException(fresh.source(), e);
        }
    }

    /** Takes over a program loaded elsewhere; replaces the current program, if any. */
    void register(LoadedProgram fresh) {
        lock.lock();
        try {
            programs.check(fresh);
            become(fresh.source(), fresh, Duration.ZERO);
        } finally {
            lock.unlock();
        }
    }

    /** Puts a program in the place of the current or a previously unloaded program, whose callers are handed over. */
    private void become(ProgramSource source, LoadedProgram fresh, Duration loadTime) {
        LoadedProgram before = loaded;
        programs.limitCalls(fresh);
        programs.retired().remember(fresh);
        loaded = fresh;
        programs.limitCalls(fresh); // again: limits changed before the program was listed
        wanted = true;
        ProgramInterface now = ProgramInterface.of(fresh.program());
        changes = last == null ? List.of() : last.changesTo(now);
        last = now;
        become(source, ProgramState.READY, loadTime, null, changes);
        if (before != null) {
            before.retire(fresh);
            programs.retired().end(before);
        }
        for (WeakReference<Program> each : unloaded) {
            Program held = each.get();
            if (held != null) {
                held.retire(fresh.program());
            }
        }
        unloaded = List.of();
    }

    /** Reloads the program from its location. */
    LoadedProgram reload() {
        return load(source(), false);
    }

    /** Closes the program; returns whether a program was loaded. */
    boolean unload() {
        lock.lock();
        try {
            LoadedProgram before = loaded;
            loaded = null;
            wanted = false;
            become(source(), ProgramState.UNLOADED, status.loadTime(), null, List.of());
            if (before != null) {
                before.retire(programs.unloaded(source()));
                programs.retired().end(before);
                unloaded = before.instances().stream().map(WeakReference::new).toList();
            }
            return before != null;
        } finally {
            lock.unlock();
        }
    }

    /** Closes the program for good, within the remaining time in nanoseconds: a load in progress may never end. */
    void close(long nanos) {
        CompletableFuture<LoadedProgram> load;
        synchronized (this) {
            load = awaited;
        }
        if (load != null) {
            load.completeExceptionally(programs.unloaded(source())); // calls do not wait for a load that may never end
        }
        boolean locked = false;
        try {
            locked = lock.tryLock()
                    || lock.tryLock(nanos, TimeUnit.NANOSECONDS); // also without remaining time, or with an interrupt
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (locked) {
            try {
                unload();
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

    /** Progress of a load; ignored after the end of the load. */
    private final class Report implements ProgramOpening.Progress {
        private final ProgramSource source;

        Report(ProgramSource source) {
            this.source = source;
            synchronized (ProgramSlot.this) {
                loading = this;
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

package io.github.iree4j.spring;

import io.github.iree4j.Program;
import io.github.iree4j.modules.parameters.ParameterProgress;
import io.github.iree4j.spring.Programs.LoadedProgram;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One version of one program: its source, its status, and the program once it is loaded. */
final class ProgramSlot {

    private static final Logger log = LoggerFactory.getLogger(ProgramSlot.class);

    private final Programs programs;
    /** Held while loading, unloading and changing the source; not while calling. */
    private final ReentrantLock lock = new ReentrantLock();

    private volatile @Nullable LoadedProgram loaded;
    private volatile ProgramStatus status; // written under the monitor, which is held only for that
    private @Nullable Report loading; // guarded by the monitor
    private boolean wanted = true; // guarded by lock: whether a call may load it
    private @Nullable ProgramInterface last; // guarded by lock: of the last one that was loaded
    private List<String> changes = List.of(); // guarded by lock: how that differed from the one before it
    private List<WeakReference<Program>> unloaded = List.of(); // guarded by lock: those without a successor

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

    /** Returns the program; loads it first if it is not loaded and was not unloaded. Waits for a load in progress. */
    LoadedProgram require() {
        LoadedProgram now = loaded;
        if (now != null) {
            return now;
        }
        lock.lock();
        try {
            now = loaded;
            if (now != null) {
                return now;
            }
            Throwable failure = status.failure();
            if (failure != null) {
                throw new IreeException(
                        StatusCode.FAILED_PRECONDITION,
                        "program %s is not available: %s; correct that and load it again"
                                .formatted(source().describe(), failure.getMessage()),
                        failure);
            }
            if (!wanted) {
                throw programs.unloaded(source());
            }
            try {
                return load(source(), false);
            } catch (ProgramLoadException e) {
                throw new IreeException(
                        e.getCause() instanceof IreeException cause ? cause.code() : StatusCode.UNAVAILABLE,
                        String.valueOf(e.getMessage()),
                        e);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Loads the program anew; the current one, if any, serves until then, and stays if loading fails. */
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
                    become(source, ProgramState.FAILED, since(start), e, List.of());
                } else {
                    become(before.source(), ProgramState.READY, since(start), e, changes);
                }
                throw e;
            }
            become(source, fresh, since(start));
            try {
                programs.requireServing(source); // again: closing may have given up to wait for this load
            } catch (RuntimeException e) {
                unload();
                throw new ProgramLoadException(source, e);
            }
            return fresh;
        } finally {
            lock.unlock();
        }
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

    /** Takes over a program that was loaded elsewhere; replaces the current one, if any. */
    void register(LoadedProgram fresh) {
        lock.lock();
        try {
            programs.check(fresh);
            become(fresh.source(), fresh, Duration.ZERO);
        } finally {
            lock.unlock();
        }
    }

    /** A program takes the place of the current one, or of one that was unloaded, which hand their callers over. */
    private void become(ProgramSource source, LoadedProgram fresh, Duration loadTime) {
        LoadedProgram before = loaded;
        programs.limitCalls(fresh);
        programs.retired().remember(fresh);
        loaded = fresh;
        programs.limitCalls(fresh); // again: limits that changed before it was listed
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

    /** Closes the program; returns whether there was one. */
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

    /** Closes the program for good, with what may be left of the time for it, in nanoseconds: a load in progress may not end. */
    void close(long nanos) {
        boolean locked = false;
        try {
            locked = lock.tryLock()
                    || lock.tryLock(nanos, TimeUnit.NANOSECONDS); // also where there is no time, or an interrupt
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

    /** Progress of one load; ignored once that load has ended. */
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

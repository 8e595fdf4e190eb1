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

/** A version of a program: the source, the status, and the program once loaded. */
final class ProgramSlot {

    private static final Logger log = LoggerFactory.getLogger(ProgramSlot.class);

    private final Programs programs;
    /** Held while loading, unloading and changing the source; not while calling. */
    private final ReentrantLock lock = new ReentrantLock();

    private volatile @Nullable LoadedProgram loaded;
    private volatile ProgramStatus status; // written under the monitor, which is held only for this field
    private @Nullable Report loading; // guarded by the monitor
    private boolean wanted = true; // guarded by lock: whether a call may load the program
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

    /** Returns the program; loads the program first if not loaded and not explicitly unloaded. Waits for a load in progress. */
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
                    become(source, ProgramState.FAILED, since(start), e, List.of());
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

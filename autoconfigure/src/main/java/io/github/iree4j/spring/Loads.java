package io.github.iree4j.spring;

import io.github.iree4j.async.Deadline;
import io.github.iree4j.status.DurationText;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/** The loads in progress, each within a time limit. Thread-safe. */
final class Loads {

    /** Time for a late load to end. */
    private static final Duration ENDING = Duration.ofSeconds(5);

    private final CallMonitor loads = new CallMonitor(_ -> 0);
    private final Set<Load> running = ConcurrentHashMap.newKeySet();
    private volatile Duration timeout = Duration.ZERO;

    private record Load(ProgramSource source, CallMonitor.Here here) {
        boolean isOf(ProgramSource program) {
            return source.name().equals(program.name()) && source.version().equals(program.version());
        }
    }

    /** Limits each future load; zero for no limit. */
    void limit(Duration most) {
        timeout = most;
    }

    /** Returns the time after which every load has ended, unless a load does not react to its end; practically forever without a limit. */
    Duration longest() {
        return timeout.isZero() ? ChronoUnit.FOREVER.getDuration() : timeout.plus(ENDING);
    }

    /** Ends all loads soon, with CANCELLED. */
    void cancel() {
        loads.cancel();
    }

    /** Ends the loads of a version of a program soon, with CANCELLED. */
    void cancel(ProgramSource program) {
        running.stream()
                .filter(load -> load.isOf(program))
                .forEach(load -> load.here().interrupt());
    }

    /**
     * Loads a program on this thread.
     *
     * @param opening loads the program; ends when the thread is interrupted
     * @throws ProgramLoadException when the program cannot be loaded, or not within the time limit
     */
    LoadedProgram load(ProgramSource source, Supplier<LoadedProgram> opening) {
        Duration limit = timeout;
        CallMonitor.Here here = loads.begin(source.name(), "load", limit.isZero() ? null : Deadline.after(limit));
        Load load = new Load(source, here);
        running.add(load);
        try {
            LoadedProgram fresh = opening.get();
            here.end();
            return fresh;
        } catch (ProgramLoadException e) {
            here.end();
            throw here.isLate()
                    ? new ProgramLoadException(
                            source,
                            IreeException.of(
                                    StatusCode.DEADLINE_EXCEEDED,
                                    "loading took longer than %s (%s); raise iree.loading.timeout if it may"
                                            .formatted(
                                                    DurationText.of(limit),
                                                    e.getCause().getMessage()),
                                    e))
                    : e;
        } catch (IreeException e) {
            here.end();
            throw new ProgramLoadException(source, e);
        } catch (RuntimeException | Error e) {
            here.end();
            throw e;
        } finally {
            running.remove(load);
        }
    }
}

package io.github.iree4j.spring;

import io.github.iree4j.modules.parameters.ParameterProgress;
import io.github.iree4j.modules.parameters.ParameterProgress.Phase;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Accumulates the parameter progress of a program by scope and reports significant steps: each file, each twentieth
 * of the bytes, failures. Devices report progress on their own threads, which must not be held up. Reports are
 * therefore made on another thread; remaining reports are made by {@link #close}.
 */
final class ParameterReports implements ParameterProgress.Listener, AutoCloseable {

    private static final int STEPS = 20;
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    /** Receives reports, one at a time. */
    @FunctionalInterface
    interface Reporter {
        /** Receives a report. The fraction, 0 to 1, refers to all bytes of all scopes. */
        void report(ParameterProgress parameters, double fraction);
    }

    private record Report(ParameterProgress parameters, double fraction) {}

    /** Accumulated state of a scope. */
    private static final class Scope {
        final Set<@Nullable Path> files = new HashSet<>();
        long total; // of all files of the scope
        long over; // of completed requests
        long seen; // highest progress reported so far
        long reported = -1;
        boolean wanted; // by a request of the program
    }

    private final Reporter reporter;
    private final Map<String, Scope> scopes = new HashMap<>(); // guarded by this, as are the other fields
    private final ArrayDeque<Report> due = new ArrayDeque<>();
    private boolean reporting;
    private boolean closed;

    ParameterReports(Reporter reporter) {
        this.reporter = reporter;
    }

    @Override
    public synchronized void progressed(ParameterProgress progress) {
        if (closed) {
            return;
        }
        String name = progress.scope().isEmpty() ? ProgramSource.DEFAULT_SCOPE : progress.scope();
        Scope scope = scopes.computeIfAbsent(name, _ -> new Scope());
        scope.wanted |= progress.phase() != Phase.OPENED;
        switch (progress.phase()) {
            case OPENED -> {
                if (scope.files.add(progress.file())) { // an archive may serve two scopes, one of them unnamed
                    scope.total += progress.totalBytes();
                    report(new ParameterProgress(Phase.OPENED, name, progress.file(), 0, progress.totalBytes()));
                }
            }
            case LOADING -> arrived(name, scope, progress.file(), scope.over + progress.doneBytes());
            case LOADED -> {
                scope.over += progress.totalBytes();
                arrived(name, scope, progress.file(), scope.over);
            }
            case STORING, STORED -> {
                // Stores by a program are not part of loading.
            }
            case FAILED -> report(new ParameterProgress(Phase.FAILED, name, progress.file(), scope.seen, scope.total));
        }
    }

    private void arrived(String name, Scope scope, @Nullable Path file, long bytes) {
        long done = Math.min(bytes, scope.total);
        scope.seen = Math.max(scope.seen, done);
        if (done > scope.reported && (done - scope.reported >= scope.total / STEPS || done == scope.total)) {
            scope.reported = done;
            report(new ParameterProgress(Phase.LOADING, name, file, done, scope.total));
        }
    }

    private void report(ParameterProgress parameters) {
        due.add(new Report(parameters, fraction()));
        if (!reporting) {
            reporting = true;
            Thread.ofVirtual().name("iree4j-progress").start(this::reportWhatIsDue);
        }
    }

    private double fraction() {
        double total = 0;
        double done = 0;
        for (Scope scope : scopes.values()) {
            total += scope.total;
            done += scope.seen;
        }
        return total == 0 ? 0 : done / total;
    }

    private void reportWhatIsDue() {
        for (Report next = next(); next != null; next = next()) {
            reporter.report(next.parameters(), next.fraction());
        }
    }

    private synchronized @Nullable Report next() {
        Report next = closed ? null : due.poll();
        if (next == null) {
            reporting = false;
            notifyAll();
        }
        return next;
    }

    /** Returns the scopes with opened files of which the program has requested something ({@code true}) or nothing. */
    synchronized Set<String> opened(boolean wanted) {
        Set<String> names = new TreeSet<>();
        scopes.forEach((name, scope) -> {
            if (scope.wanted == wanted && !scope.files.isEmpty()) {
                names.add(name);
            }
        });
        return names;
    }

    /** Reports the number of bytes of each scope taken by the loaded program. Files may hold more than programs request. */
    synchronized void loaded() {
        scopes.forEach((name, scope) -> {
            if (scope.seen > 0) {
                due.add(new Report(new ParameterProgress(Phase.LOADED, name, null, scope.seen, scope.seen), 1));
            }
        });
    }

    /**
     * Makes the remaining reports on this thread, after the report in progress. The wait for the report in progress is
     * limited, since the report's receiver may itself be waiting for the program.
     */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            long deadline = System.nanoTime() + PATIENCE.toNanos();
            long left = PATIENCE.toMillis();
            while (reporting && left > 0) {
                try {
                    wait(left);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    break;
                }
                left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            }
        }
        for (Report next = due.poll(); next != null; next = due.poll()) {
            reporter.report(next.parameters(), next.fraction());
        }
    }
}

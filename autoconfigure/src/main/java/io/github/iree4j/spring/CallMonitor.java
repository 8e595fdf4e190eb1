package io.github.iree4j.spring;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.async.Deadline;
import io.github.iree4j.async.ThreadDeadlines;
import io.github.iree4j.status.CallWait;
import io.github.iree4j.status.HighWater;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/**
 * The operators' view of the calls made through an {@link InvocationService}: the calls in flight, each with its trace,
 * and the deadlines of synchronous calls, whose thread is interrupted when late. Loads are watched alike. Thread-safe.
 */
@NotForApplications
public final class CallMonitor {

    /** The key of the trace in the diagnostic context, set by tracing libraries. */
    private static final String TRACE = "traceId";

    /** The reason for cancelling calls, in the texts of their failures. */
    static final String STOPS = "the application stops";

    private final ToIntFunction<String> programs;
    private final LongSupplier clock;
    private final ThreadDeadlines deadlines;
    private final Set<Entry> entries = ConcurrentHashMap.newKeySet();
    private final LongAdder ended = new LongAdder();
    private final HighWater most = new HighWater();

    CallMonitor(ToIntFunction<String> programs) {
        this(programs, System::nanoTime, new ThreadDeadlines());
    }

    /**
     * Creates a monitor without entries.
     *
     * @param programs cancels the calls listed by programs, with the reason, and returns their number
     * @param clock nanoseconds
     * @param deadlines interrupts threads
     */
    CallMonitor(ToIntFunction<String> programs, LongSupplier clock, ThreadDeadlines deadlines) {
        this.programs = programs;
        this.clock = clock;
        this.deadlines = deadlines;
    }

    /** A call or load. */
    class Entry {
        final String program;
        final String function;
        final @Nullable Deadline deadline;
        final long since = clock.getAsLong();
        final String trace;

        Entry(String program, String function, @Nullable Deadline deadline) {
            this.program = program;
            this.function = function;
            this.deadline = deadline;
            String current = MDC.get(TRACE);
            this.trace = current == null ? "" : current;
        }

        boolean isLate() {
            return deadline != null && deadline.hasPassed();
        }

        /** Ends the entry soon; false when already ended, or when the entry runs elsewhere. */
        boolean interrupt() {
            return false;
        }
    }

    /** An entry running on the current thread. */
    final class Here extends Entry {
        private final ThreadDeadlines.Work work;
        private volatile boolean cancelled;

        Here(String program, String function, @Nullable Deadline deadline) {
            super(program, function, deadline);
            work = deadlines.begin(deadline);
        }

        @Override
        boolean interrupt() {
            cancelled = true; // before the interrupt: the failure that follows says why
            return work.interrupt();
        }

        /** Ends the entry, and clears the interrupt raised by this class, if any. */
        void end() {
            entries.remove(this);
            ended.increment();
            work.end();
        }

        /**
         * Ends the entry with a failure; returns the failure for the caller: DEADLINE_EXCEEDED if the entry was late,
         * and the same text for all calls cancelled as the application stops, wherever the interrupt met the call.
         */
        IreeException failed(IreeException failure) {
            end();
            if (deadline != null && isLate()) {
                return CallWait.late(function, deadline.timeout(), failure);
            }
            return cancelled
                            && failure.code() == StatusCode.CANCELLED
                            && !failure.getMessage().endsWith(STOPS) // with the number of the call
                    ? IreeException.of(
                            StatusCode.CANCELLED, "call of '%s' was cancelled: %s".formatted(function, STOPS), failure)
                    : failure;
        }

        /** Returns whether the entry ended after its deadline; valid after the end. */
        @Override
        boolean isLate() {
            return work.isLate();
        }
    }

    /** Begins an entry on this thread, which must {@link Here#end} the entry. */
    Here begin(String program, String function, @Nullable Deadline deadline) {
        Here here = new Here(program, function, deadline);
        add(here);
        return here;
    }

    /** Lists an entry running elsewhere until the future is complete. */
    void add(String program, String function, @Nullable Deadline deadline, CompletableFuture<?> call) {
        Entry entry = new Entry(program, function, deadline);
        add(entry);
        call.whenComplete((_, _) -> {
            entries.remove(entry);
            ended.increment();
        });
    }

    private void add(Entry entry) {
        entries.add(entry);
        most.raise(entries.size());
    }

    /**
     * Returns the largest number of calls in flight at once since the last call of this method, for a single reader.
     *
     * @return at least the number in flight now
     */
    public int takeMostInFlight() {
        return (int) most.take(entries::size);
    }

    /**
     * Cancels all calls in flight on all programs, because the application stops, as the texts of the failures say. A
     * thread waiting in a call receives CANCELLED, and is not interrupted afterwards.
     *
     * @return the number of cancelled calls
     */
    public int cancelCalls() {
        int cancelled = programs.applyAsInt(STOPS);
        cancel(); // a thread that copies inputs, for example, has a call that the program does not list yet
        return cancelled;
    }

    /**
     * Interrupts the threads of entries; returns the number of interrupted entries. An entry running elsewhere is ended
     * by its program, with the number of the call in the text: completing the future here would be faster.
     */
    int cancel() {
        int cancelled = 0;
        for (Entry entry : entries) {
            cancelled += entry.interrupt() ? 1 : 0;
        }
        return cancelled;
    }

    /**
     * Returns whether calls are in flight, all past their deadlines.
     *
     * @return false while any call has time left or no deadline
     */
    public boolean areCallsLate() {
        return !entries.isEmpty() && entries.stream().allMatch(Entry::isLate);
    }

    /**
     * Returns whether calls of a function with a deadline are in flight.
     *
     * @param program the program's name
     * @param function the function with the name of the module
     * @return false when no such call has a deadline
     */
    public boolean haveCallsDeadline(String program, String function) {
        return entries.stream()
                .anyMatch(entry ->
                        entry.deadline != null && entry.program.equals(program) && entry.function.equals(function));
    }

    /**
     * Returns the number of ended calls, as an indicator of progress.
     *
     * @return the number of ended calls
     */
    public long endedCalls() {
        return ended.sum();
    }

    /**
     * Returns the traces of calls in flight.
     *
     * @param program the program's name
     * @param function the function with the name of the module
     * @return the trace ids, oldest calls first; empty without tracing
     */
    public List<String> traces(String program, String function) {
        return entries.stream()
                .filter(entry ->
                        !entry.trace.isEmpty() && entry.program.equals(program) && entry.function.equals(function))
                .sorted(Comparator.comparingLong(entry -> entry.since))
                .map(entry -> entry.trace)
                .distinct()
                .toList();
    }
}

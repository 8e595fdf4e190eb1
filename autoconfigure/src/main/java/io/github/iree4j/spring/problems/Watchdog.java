package io.github.iree4j.spring.problems;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.monitor.PendingCall;
import io.github.iree4j.spring.IreeEvents;
import io.github.iree4j.status.DurationText;
import io.github.iree4j.status.Known;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.SimpleAsyncTaskScheduler;

/**
 * Looks at regular times for work that does not advance. Each found problem leads to one {@link ProblemEvent}, one
 * entry of the {@link IreeEvents}, and one line of the log, regardless of the problem's duration and of the work behind
 * the problem. The application refuses traffic while work is in flight, nothing at all has advanced for the configured
 * time, and no program is known to serve new calls; a computing call counts as advancing until the call's deadline. The
 * application also refuses traffic while a file used in place by a program is changed, and while no device works.
 * Thread-safe.
 */
@NotForApplications
public final class Watchdog implements SmartLifecycle, AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Watchdog.class);

    /** Number of looks after which an unchanging file counts as written. A guess: copying may pause. */
    private static final int SETTLED = 5;

    /** Number of looks after which a still changed file counts again, since the earlier reaction may have failed. */
    private static final int AGAIN = 60;

    private final ProblemFinder finder;
    private final Duration after;
    private final Duration interval;
    private final IreeEvents events;
    private final ApplicationEventPublisher publisher;
    private final SimpleAsyncTaskScheduler scheduler;
    private final LongSupplier clock;
    private final Consumer<Boolean> refusal;
    private final Consumer<ChangedFile> settled;

    private volatile List<Problem> problems = List.of();
    private volatile boolean stalled;
    private volatile @Nullable ScheduledFuture<?> looking;
    private final AtomicLong found = new AtomicLong(); // read during looks
    // guarded by this, as are the next fields
    private long completed = -1;
    private Map<Long, PendingCall> before = new HashMap<>(); // calls of the previous look
    private long advanced;
    private boolean refusing;
    // files not changed again, with the number of looks
    private Map<ChangedFile, Integer> looksAtChanged = new HashMap<>();

    /**
     * Creates a watchdog.
     *
     * @param after time without change after which work is reported
     * @param interval the time between looks
     * @param scheduler runs the looks; closed with the watchdog
     * @param clock nanoseconds
     * @param refusal called at each change with whether the application has to refuse traffic
     * @param settled called with a changed file, once the file has stayed the same for {@value #SETTLED} looks, and
     *     every {@value #AGAIN} looks while the file stays the same; returns at once
     */
    public Watchdog(
            ProblemFinder finder,
            Duration after,
            Duration interval,
            IreeEvents events,
            ApplicationEventPublisher publisher,
            SimpleAsyncTaskScheduler scheduler,
            LongSupplier clock,
            Consumer<Boolean> refusal,
            Consumer<ChangedFile> settled) {
        this.refusal = refusal;
        this.settled = settled;
        this.finder = finder;
        this.after = after;
        this.interval = interval;
        this.events = events;
        this.publisher = publisher;
        this.scheduler = scheduler;
        this.clock = clock;
        this.advanced = clock.getAsLong();
    }

    /** Returns the problems of the last look. */
    public List<Problem> problems() {
        return problems;
    }

    /** Returns the number of problems found so far. */
    public long found() {
        return found.get();
    }

    /** Returns whether work is in flight, nothing advances, and no program is known to serve new calls. */
    public boolean isStalled() {
        return stalled;
    }

    /** Looks once. */
    public synchronized void look() {
        List<Problem> earlier = problems;
        List<Problem> now = finder.find(after);
        problems = List.copyOf(now);
        for (Problem each : now) {
            if (earlier.stream().noneMatch(each::isSame)) {
                found.incrementAndGet();
                report(each);
            }
        }
        for (Problem each : earlier) {
            if (now.stream().noneMatch(each::isSame)) {
                over(each);
            }
        }
        lookForAdvance();
        lookForSettled(now);
        refuseTraffic(stalled || !looksAtChanged.isEmpty() || finder.areAllDevicesLost());
    }

    private void lookForSettled(List<Problem> now) {
        Map<ChangedFile, Integer> looks = new HashMap<>();
        for (Problem each : now) {
            if (each instanceof ChangedFile changed) { // equal unless changed again: the cause has size and times
                int count = looksAtChanged.getOrDefault(changed, 0) + 1;
                looks.put(changed, count);
                if (count % AGAIN == SETTLED) {
                    settled.accept(changed);
                }
            }
        }
        looksAtChanged = looks;
    }

    private void refuseTraffic(boolean refuse) {
        if (refuse != refusing) {
            refusing = refuse;
            refusal.accept(refuse);
        }
    }

    private void report(Problem problem) {
        log.atWarn()
                .addKeyValue("iree.problem", problem.kind())
                .log(
                        "{}: {}; {}{}",
                        problem.kind(),
                        problem.summary(),
                        problem.remedy(),
                        problem.chain().isEmpty() ? "" : "; affected: " + String.join("; ", problem.chain()));
        events.add("problem." + problem.kind(), problem.subject(), problem.summary());
        publisher.publishEvent(new ProblemEvent(this, problem, false));
    }

    private void over(Problem problem) {
        log.info("problem {} of {} is over", problem.kind(), problem.subject());
        events.add("problem.over", problem.subject(), problem.kind());
        publisher.publishEvent(new ProblemEvent(this, problem, true));
    }

    private void lookForAdvance() {
        long now = clock.getAsLong();
        long done = finder.completed();
        List<ActiveCall> calls = finder.calls();
        Map<Long, PendingCall> states = new HashMap<>();
        calls.forEach(each -> states.put(each.call().id(), each.call()));
        boolean moved = calls.isEmpty()
                || done != completed
                || finder.computes(calls)
                || !states.keySet().containsAll(before.keySet()) // a call has ended
                || before.values().stream().anyMatch(each -> hasMoved(each, states.get(each.id())));
        completed = done;
        before = states;
        if (moved) {
            advanced = now;
        }
        boolean still = !moved && now - advanced >= after.toNanos();
        // Unknown counts as no: clients find another instance, and the end of any work here brings this instance back.
        Known serving = still ? finder.newCallsCanBeServed() : Known.YES;
        boolean stalls = serving != Known.YES;
        if (stalls != stalled) {
            stalled = stalls;
            String text = stalls
                    ? "nothing has advanced for %s, with %d calls in flight, and no program %s serve new ones"
                            .formatted(
                                    DurationText.rounded(after),
                                    calls.size(),
                                    serving == Known.NO ? "can" : "is known to")
                    : moved ? "work advances again" : "new calls can be served again";
            events.add(stalls ? "runtime.stalled" : "runtime.advances", "runtime", text);
            log.atLevel(stalls ? Level.ERROR : Level.INFO).log(text);
        }
    }

    private static boolean hasMoved(PendingCall then, @Nullable PendingCall now) {
        return now == null || now.state() != then.state() || now.unchanged().compareTo(then.unchanged()) < 0;
    }

    @Override
    public void start() {
        looking = scheduler.scheduleWithFixedDelay(this::lookSafely, interval);
    }

    private void lookSafely() {
        try {
            look();
        } catch (RuntimeException e) {
            log.warn("could not look for work that does not advance", e);
        }
    }

    @Override
    public void stop() {
        ScheduledFuture<?> now = looking;
        looking = null;
        if (now != null) {
            now.cancel(false);
        }
        problems = new ArrayList<>(); // work in flight ends now
    }

    /** Stops for good, and ends the looking thread. */
    @Override
    public void close() {
        stop();
        scheduler.close();
    }

    @Override
    public boolean isRunning() {
        return looking != null;
    }

    /** Stops before calls are drained. */
    @Override
    public int getPhase() {
        return SmartLifecycle.DEFAULT_PHASE;
    }
}

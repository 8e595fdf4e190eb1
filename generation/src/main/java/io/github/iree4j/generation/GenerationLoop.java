package io.github.iree4j.generation;

import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.Deadline;
import io.github.iree4j.async.HandoffThread;
import io.github.iree4j.async.IreeFuture;
import io.github.iree4j.async.ThreadDeadlines;
import io.github.iree4j.generation.GenerationResult.FinishReason;
import io.github.iree4j.generation.sampling.Sampler;
import io.github.iree4j.status.DeviceLostException;
import io.github.iree4j.status.DurationText;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes steps as long as there are sequences, on a dedicated thread: takes new requests, ends cancelled and late requests,
 * computes the planner's next step, and chooses a token for each sequence whose last token was read.
 *
 * <p>Sequences, planner and logits are confined to the thread. Requests arrive under the lock.
 */
final class GenerationLoop implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(GenerationLoop.class);

    /** The time for which a late request waits for the end of the step in progress, which frees its pages. */
    private static final Duration GRACE = Duration.ofMillis(ThreadDeadlines.LOOK_MILLIS);

    private final String name;
    private final StepPlanner planner;
    private final StepRunner runner;
    private final IntConsumer scrub;
    private final int maximumWaiting;
    private final int requestsPerTenant;
    private final LongSupplier nanoTime;
    private final Runnable atEnd;
    private final Logits logits = new Logits();
    private final HandoffThread readers;
    private final List<Generation> awaited = new ArrayList<>(); // readers wait for tokens of this step
    private long prefillSteps;
    private long decodeSteps;
    private long generatedTokens;
    private volatile GeneratorStatistics statistics; // written by the thread
    private volatile boolean ended; // perhaps generations have arrived, or ended, since endLate has looked at all
    private @Nullable Deadline firstDue; // when endLate last looked
    private final Thread thread;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition arrived = lock.newCondition();
    private final List<Generation> arrivals = new ArrayList<>(); // guarded by lock
    private final Set<Generation> live = new HashSet<>(); // not left by the loop; guarded by lock
    private final Map<String, Integer> unfinished = new HashMap<>(); // live requests of each tenant; guarded by lock
    private final List<IreeFuture<GeneratorSnapshot>> observers = new ArrayList<>(); // guarded by lock
    private long submitted; // guarded by lock
    private boolean closed; // guarded by lock
    private @Nullable IreeException broken; // guarded by lock

    /**
     * Starts the thread.
     *
     * @param name of the program, for messages
     * @param planner chooses the steps
     * @param runner computes the steps
     * @param scrub zeroes a page
     * @param maximumWaiting most requests that wait
     * @param requestsPerTenant most unfinished requests of a tenant
     * @param nanoTime for deadlines
     * @param atEnd called once by the thread, after its last step
     */
    GenerationLoop(
            String name,
            StepPlanner planner,
            StepRunner runner,
            IntConsumer scrub,
            int maximumWaiting,
            int requestsPerTenant,
            LongSupplier nanoTime,
            Runnable atEnd) {
        this.atEnd = atEnd;
        this.name = name;
        this.planner = planner;
        this.runner = runner;
        this.scrub = scrub;
        this.maximumWaiting = maximumWaiting;
        this.requestsPerTenant = requestsPerTenant;
        this.nanoTime = nanoTime;
        this.statistics = planner.statistics(0, 0, 0);
        this.readers = new HandoffThread("iree4j-readers " + name);
        this.thread =
                Thread.ofPlatform().daemon().name("iree4j-generation " + name).start(this::run);
    }

    /** Submits a request that fits, see {@link Generator#submit}. */
    Generation submit(GenerationRequest request) {
        lock.lock();
        try {
            if (closed) {
                throw IreeException.of(StatusCode.FAILED_PRECONDITION, "generator of '%s' is closed".formatted(name));
            }
            if (broken != null) {
                throw broken;
            }
            int before = arrivals.size() + statistics.waiting();
            if (before >= maximumWaiting) {
                throw IreeException.of(
                        StatusCode.RESOURCE_EXHAUSTED,
                        "%d requests wait for '%s', the most allowed; try again later".formatted(before, name));
            }
            int others = unfinished.getOrDefault(request.tenant(), 0);
            if (others >= requestsPerTenant) {
                throw IreeException.of(
                        StatusCode.RESOURCE_EXHAUSTED,
                        "tenant '%s' has %d unfinished requests to '%s', the most allowed; wait for an answer, or cancel a request"
                                .formatted(request.tenant(), others, name));
            }
            Generation generation = new Generation(request, submitted++, nanoTime.getAsLong());
            unfinished.merge(request.tenant(), 1, Integer::sum);
            generation.deadline(request.begin(nanoTime));
            generation.result().whenComplete((_, _) -> ended = true);
            live.add(generation);
            arrivals.add(generation);
            arrived.signal();
            watch(generation);
            return generation;
        } finally {
            lock.unlock();
        }
    }

    /** Has a request fail soon after its deadline, also during a step that does not end. */
    private void watch(Generation generation) {
        Deadline deadline = generation.deadline();
        if (deadline == null || generation.result().isDone()) {
            return;
        }
        Cancellation timer = deadline.whenPassed(GRACE, "iree4j-late " + name, () -> {
            if (deadline.hasPassed()) {
                generation.fail(late(generation, deadline));
            } else { // by a clock other than the system's
                watch(generation);
            }
        });
        generation.result().whenComplete((_, _) -> timer.cancel());
    }

    private IreeException late(Generation generation, Deadline deadline) {
        return IreeException.of(
                StatusCode.DEADLINE_EXCEEDED,
                "generation with '%s' has %d of at most %d tokens after %s"
                        .formatted(
                                name,
                                generation.length(),
                                generation.request().maximumTokens(),
                                DurationText.of(deadline.timeout())));
    }

    GeneratorStatistics statistics() {
        return statistics;
    }

    /** Returns the state between two steps, soon; see {@link Generator#snapshot()}. */
    IreeFuture<GeneratorSnapshot> snapshot() {
        IreeFuture<GeneratorSnapshot> future = new IreeFuture<>("snapshot");
        IreeException failure;
        lock.lock();
        try {
            failure = closed ? closedFailure() : broken;
            if (failure == null) {
                observers.add(future);
                arrived.signal();
                return future;
            }
        } finally {
            lock.unlock();
        }
        future.completeExceptionally(failure);
        return future;
    }

    private IreeException closedFailure() {
        return IreeException.of(StatusCode.CANCELLED, "generator of '%s' was closed".formatted(name));
    }

    private void run() {
        try {
            while (takeArrivals()) {
                observe();
                endLate();
                step();
            }
            end(closedFailure());
        } catch (DeviceLostException e) {
            end(e);
        } catch (RuntimeException | Error e) { // a defect of this package, or no memory: nothing may hang
            log.error("generation with '{}' fails", name, e);
            end(IreeFuture.failureOf(e));
        } finally {
            atEnd.run();
        }
    }

    /** Fails all generations and observers, and all later requests. The planner comes last, since its state may be the cause. */
    private void end(IreeException failure) {
        lock.lock();
        try {
            broken = failure; // from now on nobody adds anything
        } finally {
            lock.unlock();
        }
        live.forEach(each -> each.fail(failure));
        observers.forEach(each -> each.completeExceptionally(failure));
        planner.sequences().forEach(planner::remove);
        publish();
    }

    /** Removes a sequence whose generation ends. */
    private void remove(Sequence sequence) {
        planner.remove(sequence);
        Generation generation = sequence.generation();
        lock.lock();
        try {
            live.remove(generation);
            unfinished.computeIfPresent(generation.request().tenant(), (_, count) -> count == 1 ? null : count - 1);
        } finally {
            lock.unlock();
        }
    }

    /** Takes the requests that have arrived, waiting for a request if there are no sequences. Returns false when closed. */
    private boolean takeArrivals() {
        publish();
        lock.lock();
        try {
            while (arrivals.isEmpty() && observers.isEmpty() && planner.isIdle() && !closed) {
                arrived.awaitUninterruptibly();
            }
            if (!arrivals.isEmpty()) {
                ended = true;
                arrivals.forEach(each -> planner.add(new Sequence(each)));
                arrivals.clear();
                publish(); // before others take the lock: whoever has arrived waits still
            }
            return !closed;
        } finally {
            lock.unlock();
        }
    }

    private void observe() {
        List<IreeFuture<GeneratorSnapshot>> waiting;
        lock.lock();
        try {
            waiting = List.copyOf(observers);
            observers.clear();
        } finally {
            lock.unlock();
        }
        if (!waiting.isEmpty()) {
            GeneratorSnapshot state = planner.snapshot();
            waiting.forEach(each -> each.complete(state));
            Thread.interrupted(); // a callback may have interrupted this thread, and the next step would fail
        }
    }

    private void publish() {
        statistics = planner.statistics(prefillSteps, decodeSteps, generatedTokens);
    }

    /** Removes sequences that are cancelled or late. */
    private void endLate() {
        if (!ended && (firstDue == null || !firstDue.hasPassed())) {
            return;
        }
        ended = false; // before looking
        firstDue = null;
        for (Sequence each : planner.sequences()) {
            Generation generation = each.generation();
            Deadline deadline = generation.deadline();
            if (generation.result().isDone()) {
                remove(each);
            } else if (deadline != null && deadline.hasPassed()) {
                remove(each);
                publish(); // before the failure: whoever has it may submit again
                generation.fail(late(generation, deadline));
            } else {
                firstDue = Deadline.earliest(firstDue, deadline);
            }
        }
    }

    private void step() {
        Step step = planner.next();
        publish();
        if (step == null) {
            return;
        }
        if (step.steps() > 1) {
            new StepsAhead(step).run();
            return;
        }
        boolean prefill = step.entry().prefill() && step.proposing() == 0;
        prefillSteps += prefill ? 1 : 0;
        decodeSteps += prefill ? 0 : 1;
        long began = nanoTime.getAsLong();
        try {
            runner.run(step, logits);
        } catch (DeviceLostException e) {
            throw e.during(step.toString());
        } catch (IreeException e) {
            planner.passed(step, prefill, nanoTime.getAsLong() - began);
            scrub.accept(PagePool.SCRATCH);
            for (Sequence each : step.sequences()) {
                fail(each, e.during(step.toString()));
            }
            return;
        }
        long now = nanoTime.getAsLong();
        planner.passed(step, prefill, now - began);
        planner.completed(step);
        int accepted = 0;
        for (int row = 0; row < step.sequences().size(); row++) {
            accepted += choose(step, row, now);
        }
        planner.took(step, Math.max(1, nanoTime.getAsLong() - began), accepted);
        wakeReaders();
    }

    /**
     * Has the readers of new tokens woken by another thread: waking takes microseconds for each, and the next step would
     * wait. Waking the other thread takes as long as waking a single reader.
     */
    private void wakeReaders() {
        if (awaited.isEmpty()) {
            return;
        }
        if (awaited.size() == 1) {
            awaited.getFirst().wakeReaders();
            awaited.clear();
            return;
        }
        List<Generation> all = List.copyOf(awaited);
        awaited.clear();
        readers.execute(() -> all.forEach(Generation::wakeReaders));
    }

    /**
     * Decode steps submitted at once. A sequence may end before the last step: then the later steps write behind its last
     * token, into pages that nobody else has before the last step has ended.
     */
    private final class StepsAhead {
        private final Step first;
        private final int[] ends; // length of each ended row's sequence, otherwise -1
        private final boolean[] spoiled; // rows whose pages may hold infinities behind the end
        private final long began = nanoTime.getAsLong();
        private long before = began;

        StepsAhead(Step first) {
            this.first = first;
            this.ends = new int[first.sequences().size()];
            this.spoiled = new boolean[ends.length];
            Arrays.fill(ends, -1);
        }

        void run() {
            try {
                runner.runAll(first, logits, this::completed);
                planner.took(first, Math.max(1, (before - began) / first.steps()), 0);
            } catch (DeviceLostException e) {
                throw e.during(first.toString());
            } catch (IreeException e) {
                decodeSteps++;
                planner.passed(first, false, nanoTime.getAsLong() - before);
                for (int row = 0; row < ends.length; row++) {
                    if (ends[row] < 0) {
                        fail(first.sequences().get(row), e.during(first.toString()));
                    } else {
                        spoiled[row] = true;
                    }
                }
                scrub.accept(PagePool.SCRATCH);
            }
            for (int row = 0; row < ends.length; row++) {
                if (spoiled[row]) {
                    scrubBehind(row);
                }
            }
        }

        private void completed(Step step) {
            long now = nanoTime.getAsLong();
            decodeSteps++;
            planner.passed(step, false, now - before);
            planner.completed(step);
            endLate();
            for (int row = 0; row < ends.length; row++) {
                Sequence sequence = step.sequences().get(row);
                if (planner.isRunning(sequence)) {
                    choose(step, row, now);
                }
                if (!planner.isRunning(sequence)) {
                    ends[row] = ends[row] < 0 ? (int) step.lengths()[row] : ends[row];
                    spoiled[row] |= !logits.isFinite(row, 0);
                }
            }
            wakeReaders();
            before = now;
        }

        private void scrubBehind(int row) {
            scrub.accept(PagePool.SCRATCH);
            for (int i = planner.columnOf(ends[row]); i < first.columns(); i++) {
                int page = first.page(row, i);
                if (page != PagePool.SCRATCH) {
                    scrub.accept(page);
                }
            }
        }
    }

    /**
     * Chooses tokens of a row: the next token, and further tokens as long as the proposed token is the chosen token.
     * Logits that nobody chooses from are looked at, too: infinities may have been left in the pages.
     *
     * @return number of proposed tokens that were chosen
     */
    private int choose(Step step, int row, long now) {
        Sequence sequence = step.sequences().get(row);
        int proposed = step.proposed(row);
        int first = step.firstChoice(row);
        int chosen = 0;
        FinishReason reason = null;
        boolean right = sequence.computed() == sequence.length(); // otherwise the next token is known
        try {
            if (!right) {
                logits.check(row, first);
            }
            while (right && reason == null) {
                int token = logits.choose(row, first + chosen, sequence.sampler());
                if (token == Sampler.NONE) {
                    reason = FinishReason.STOP;
                    break;
                }
                right = chosen < proposed && sequence.tokens()[sequence.length()] == token;
                chosen++;
                reason = append(sequence, token, now);
                if (right) {
                    sequence.advance(1);
                }
            }
        } catch (IreeException e) {
            scrub.accept(PagePool.SCRATCH);
            if (e.code() == StatusCode.DATA_LOSS && step.sequences().size() > 1) { // perhaps of a neighbour
                sequence.suspect(true);
                planner.restart(sequence).forEach(scrub::accept);
            } else {
                fail(sequence, e);
            }
            return right ? chosen : Math.max(0, chosen - 1);
        }
        sequence.suspect(sequence.isSuspect() && chosen == 0);
        boolean finite = true;
        for (int i = Math.max(1, chosen); i <= proposed; i++) {
            finite &= logits.isFinite(row, first + i);
        }
        if (finite) {
            planner.share(step, sequence);
        } else {
            scrub.accept(PagePool.SCRATCH);
            planner.restart(sequence).forEach(scrub::accept);
        }
        if (reason != null) {
            remove(sequence);
            publish(); // whoever has the answer sees the state without the sequence
            sequence.generation().finish(reason);
        }
        return right ? chosen : Math.max(0, chosen - 1);
    }

    /** Appends a token. Returns why the generation ends, or null. */
    private @Nullable FinishReason append(Sequence sequence, int token, long now) {
        Generation generation = sequence.generation();
        sequence.append(token);
        if (generation.append(token, sequence.sampler().logProbabilities(), now)) {
            awaited.add(generation);
        }
        generatedTokens++;
        if (generation.request().stopTokens().contains(token)
                || sequence.sampler().isComplete()) {
            return FinishReason.STOP;
        }
        int generated = sequence.length() - sequence.promptLength();
        return generated == generation.request().maximumTokens() ? FinishReason.LENGTH : null;
    }

    /** Fails a sequence whose pages may hold infinities. */
    private void fail(Sequence sequence, IreeException failure) {
        List<Integer> pages = planner.restart(sequence);
        remove(sequence);
        publish(); // before the failure: whoever has it may submit again
        sequence.generation().fail(failure);
        pages.forEach(scrub::accept); // may fail, too
    }

    /** Ends all generations, and waits for the step in progress, unless called by its thread. */
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            arrived.signal();
        } finally {
            lock.unlock();
        }
        boolean interrupted = false;
        while (!Thread.currentThread().equals(thread)) {
            try {
                thread.join();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}

package io.github.iree4j.generation;

import io.github.iree4j.async.Deadline;
import io.github.iree4j.async.IreeFuture;
import io.github.iree4j.generation.GenerationResult.FinishReason;
import io.github.iree4j.generation.sampling.LogProbabilities;
import io.github.iree4j.generation.sampling.SamplingOptions;
import io.github.iree4j.status.IreeException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A submitted request. Tokens are kept until read, at most the maximum of the request, so a slow reader delays nobody.
 * Thread-safe.
 */
public final class Generation {
    private final GenerationRequest request;
    private final long number;
    private final IreeFuture<GenerationResult> result = new IreeFuture<>("generation");
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final List<Integer> tokens = new ArrayList<>(); // guarded by lock
    private final List<LogProbabilities> logProbabilities = new ArrayList<>(); // guarded by lock; empty or as tokens
    private int read; // guarded by lock
    private volatile int sharedTokens;
    private @Nullable Deadline deadline; // set before the request arrives
    private final long submitted; // as the others, of the loop's clock
    private long first; // guarded by lock, written with the first token
    private long last; // guarded by lock, written with each token
    private long longest = -1; // guarded by lock; time between two tokens
    private final StepTimes times = new StepTimes(); // since the last token; confined to the generator's thread
    private @Nullable TokenDelay firstDelay; // guarded by lock
    private @Nullable TokenDelay slowestDelay; // guarded by lock

    Generation(GenerationRequest request, long number, long submitted) {
        this.request = request;
        this.number = number;
        this.submitted = submitted;
        result.whenComplete((_, _) -> wakeReaders());
    }

    /** Returns the request. */
    public GenerationRequest request() {
        return request;
    }

    /** Returns the place in the order of submission to the generator, from 0. */
    public long number() {
        return number;
    }

    /**
     * Returns the future of the result. Completing the future from outside cancels the generation: its pages are free
     * at the end of the step in progress, or of the last step already submitted. Callbacks run on the generator's thread,
     * where waiting for another answer of the generator never ends: use the {@code Async} methods for longer work.
     *
     * @return completes with the result, or with an {@link IreeException}: DEADLINE_EXCEEDED after the request's timeout,
     *     in the midst of a step only if the step takes 0.1 s longer, and then on another thread, while the pages stay in
     *     use until the end of the step; CANCELLED when the generator is closed; any failure of the program
     */
    public IreeFuture<GenerationResult> result() {
        return result;
    }

    /**
     * Returns how many tokens of the prompt were found in the cache.
     *
     * @return the number when the request began; 0 before
     */
    public int sharedTokens() {
        return sharedTokens;
    }

    /** Cancels the generation. */
    public void cancel() {
        result.cancel(false);
    }

    /**
     * Waits for the next token, at most until the deadline of the request. Each token is returned once.
     *
     * @return empty after the last token
     * @throws IreeException the failure of the generation, after the tokens before the failure
     * @throws InterruptedException when the waiting thread is interrupted; the generation continues
     */
    public OptionalInt next() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (read == tokens.size() && !result.isDone()) {
                changed.await();
            }
            if (read < tokens.size()) {
                return OptionalInt.of(tokens.get(read++));
            }
        } finally {
            lock.unlock();
        }
        result.await();
        return OptionalInt.empty();
    }

    /**
     * Waits until {@link #next} returns without waiting, but not longer than a limit.
     *
     * @param limit the longest wait; at once for zero or less
     * @return whether a token, the end or a failure is there
     * @throws InterruptedException when the waiting thread is interrupted; the generation continues
     */
    public boolean await(Duration limit) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long left = TimeUnit.NANOSECONDS.convert(limit);
            while (read == tokens.size() && !result.isDone() && left > 0) {
                left = changed.awaitNanos(left);
            }
            return read < tokens.size() || result.isDone();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Returns the log probabilities of a generated token.
     *
     * @param index index of the token among the generated tokens, 0 for the first
     * @return the log probabilities
     * @throws IndexOutOfBoundsException for a token not generated yet, or without {@link
     *     SamplingOptions.Builder#logProbabilities}
     */
    public LogProbabilities logProbabilities(int index) {
        lock.lock();
        try {
            return logProbabilities.get(index);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Returns the time from the submission to the first token, without the time until a reader reads the token.
     *
     * @return empty before the first token
     */
    public Optional<Duration> timeToFirstToken() {
        lock.lock();
        try {
            return tokens.isEmpty() ? Optional.empty() : Optional.of(Duration.ofNanos(first - submitted));
        } finally {
            lock.unlock();
        }
    }

    /**
     * Returns the mean time between two tokens so far.
     *
     * @return empty before the second token
     */
    public Optional<Duration> timePerToken() {
        lock.lock();
        try {
            return tokens.size() < 2
                    ? Optional.empty()
                    : Optional.of(Duration.ofNanos((last - first) / (tokens.size() - 1)));
        } finally {
            lock.unlock();
        }
    }

    /**
     * Returns what the time until the first token consists of.
     *
     * @return empty before the first token
     */
    public Optional<TokenDelay> firstDelay() {
        lock.lock();
        try {
            return Optional.ofNullable(firstDelay);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Returns what the longest time between two tokens so far consists of; of equal times, the first.
     *
     * @return empty before the second token
     */
    public Optional<TokenDelay> slowestDelay() {
        lock.lock();
        try {
            return Optional.ofNullable(slowestDelay);
        } finally {
            lock.unlock();
        }
    }

    /** Returns the times of steps since the last token. For the generator's thread. */
    StepTimes times() {
        return times;
    }

    /** Wakes the threads that wait for a token or the end. */
    void wakeReaders() {
        lock.lock();
        try {
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    void deadline(@Nullable Deadline end) {
        deadline = end;
    }

    /** Returns the number of generated tokens. */
    int length() {
        lock.lock();
        try {
            return tokens.size();
        } finally {
            lock.unlock();
        }
    }

    /** Returns the deadline; null for none. */
    @Nullable
    Deadline deadline() {
        return deadline;
    }

    /** Records how many tokens of the prompt were found in the cache. */
    void shared(int count) {
        sharedTokens = count;
    }

    /** Appends a token. Returns whether readers wait for {@link #wakeReaders}. */
    boolean append(int token, @Nullable LogProbabilities probabilities, long now) {
        lock.lock();
        try {
            if (tokens.isEmpty()) {
                first = now;
                firstDelay = times.delay(0, now - submitted);
            } else if (now - last > longest) {
                longest = now - last;
                slowestDelay = times.delay(tokens.size(), longest);
            }
            times.reset();
            last = now;
            tokens.add(token);
            if (probabilities != null) {
                logProbabilities.add(probabilities);
            }
            return lock.hasWaiters(changed);
        } finally {
            lock.unlock();
        }
    }

    void finish(FinishReason reason) {
        GenerationResult all;
        lock.lock();
        try {
            all = new GenerationResult(tokens, reason, sharedTokens, logProbabilities);
        } finally {
            lock.unlock();
        }
        result.complete(all);
        Thread.interrupted(); // a callback may have interrupted the generator's thread, and the next step would fail
    }

    void fail(IreeException failure) {
        result.completeExceptionally(failure);
        Thread.interrupted(); // as above
    }
}

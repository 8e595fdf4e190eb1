package io.github.iree4j.generation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * How fast tokens came.
 *
 * @param perSecond tokens per second of all sequences together
 * @param median time between tokens of a sequence, in microseconds; the same for the next two
 */
record TokenTimes(double perSecond, double median, double p99, double longest) {
    static TokenTimes of(long nanos, List<long[]> times) {
        long[] gaps = times.stream()
                .flatMapToLong(each -> IntStream.range(1, each.length).mapToLong(i -> each[i] - each[i - 1]))
                .sorted()
                .toArray();
        long tokens = times.stream().mapToLong(each -> each.length).sum();
        return new TokenTimes(
                tokens * 1e9 / nanos, quantile(gaps, 0.5) / 1e3, quantile(gaps, 0.99) / 1e3, quantile(gaps, 1) / 1e3);
    }

    /** Generates sequences, and returns the times of their tokens. */
    @FunctionalInterface
    interface Answers {
        List<long[]> run() throws InterruptedException;
    }

    /** Generates for some seconds. */
    static TokenTimes repeat(double seconds, Answers answers) throws InterruptedException {
        List<long[]> times = new ArrayList<>();
        long start = System.nanoTime();
        do {
            times.addAll(answers.run());
        } while (System.nanoTime() - start < seconds * 1e9);
        return of(System.nanoTime() - start, times);
    }

    /** Returns the median of each figure. */
    static TokenTimes middle(List<TokenTimes> turns) {
        return new TokenTimes(
                middle(turns, TokenTimes::perSecond),
                middle(turns, TokenTimes::median),
                middle(turns, TokenTimes::p99),
                middle(turns, TokenTimes::longest));
    }

    static <T> double middle(List<T> turns, ToDoubleFunction<T> figure) {
        double[] sorted = turns.stream().mapToDouble(figure).sorted().toArray();
        return sorted.length == 0 ? Double.NaN : sorted[sorted.length / 2];
    }

    /** Returns a quantile of times in ascending order. */
    static double quantile(long[] sorted, double share) {
        return sorted.length == 0 ? Double.NaN : sorted[(int) Math.min(sorted.length - 1, sorted.length * share)];
    }

    static double quantile(List<Long> values, double share) {
        return quantile(values.stream().mapToLong(Long::longValue).sorted().toArray(), share);
    }

    /** Receives the tokens of generations, each by a thread. */
    static final class Readers {
        private final List<long[]> times = new ArrayList<>();
        private final List<Thread> threads = new ArrayList<>();

        /** Submits requests for tokens behind each prompt, and begins to read. */
        static Readers start(Function<GenerationRequest, Generation> submit, int tokens, int[][] prompts) {
            return start(
                    submit,
                    Arrays.stream(prompts)
                            .map(each -> GenerationRequest.of(tokens, each))
                            .toList());
        }

        static Readers start(Function<GenerationRequest, Generation> submit, List<GenerationRequest> requests) {
            List<Generation> generations = requests.stream().map(submit).toList();
            Readers readers = new Readers();
            generations.forEach(readers::read);
            return readers;
        }

        private void read(Generation generation) {
            long[] received = new long[generation.request().maximumTokens()];
            times.add(received);
            threads.add(Thread.startVirtualThread(() -> {
                try {
                    for (int i = 0; generation.next().isPresent(); i++) {
                        received[i] = System.nanoTime();
                    }
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }));
        }

        /** Waits for the last token. Returns false when the time is over before. */
        boolean await(long nanos) throws InterruptedException {
            long end = System.nanoTime() + nanos;
            for (Thread each : threads) {
                if (!each.join(Duration.ofNanos(Math.max(1, end - System.nanoTime())))) {
                    return false;
                }
            }
            return true;
        }

        /** Waits for the last token. Returns the times of the tokens of each generation. */
        List<long[]> await() throws InterruptedException {
            for (Thread each : threads) {
                each.join();
            }
            if (times.stream().flatMapToLong(Arrays::stream).anyMatch(each -> each == 0)) {
                throw new IllegalStateException("an answer has fewer tokens than requested");
            }
            return times;
        }
    }
}

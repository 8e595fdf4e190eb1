package io.github.iree4j.spring.ai;

import io.github.iree4j.generation.Generation;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.observation.conventions.AiOperationType;

/**
 * The slowest tokens of the requests that ended last: of each, the first token, and the token with the longest time since
 * the token before. Thread-safe.
 */
final class SlowTokens implements GenerationListener {
    static final int REQUESTS = 256;
    static final int SHOWN = 16;

    private final InstantSource clock;
    private final ReentrantLock lock = new ReentrantLock();
    private final Deque<List<SlowToken>> requests = new ArrayDeque<>(); // guarded by lock; the earliest first

    /** Creates an empty list, with the clock of {@link SlowToken#ended}. */
    SlowTokens(InstantSource clock) {
        this.clock = clock;
    }

    @Override
    public void ended(
            Generation generation, AiOperationType operation, Duration duration, @Nullable Throwable failure) {
        List<SlowToken> tokens = Stream.of(generation.firstDelay(), generation.slowestDelay())
                .flatMap(Optional::stream)
                .map(delay -> new SlowToken(
                        clock.instant(),
                        generation.number(),
                        generation.request().tenant(),
                        generation.request().promptLength(),
                        generation.sharedTokens(),
                        delay))
                .toList();
        if (tokens.isEmpty()) {
            return;
        }
        lock.lock();
        try {
            if (requests.size() == REQUESTS) {
                requests.removeFirst();
            }
            requests.addLast(tokens);
        } finally {
            lock.unlock();
        }
    }

    /** Returns up to {@value #SHOWN} tokens, the slowest first. */
    List<SlowToken> slowest() {
        List<List<SlowToken>> all;
        lock.lock();
        try {
            all = new ArrayList<>(requests);
        } finally {
            lock.unlock();
        }
        return all.stream()
                .flatMap(List::stream)
                .sorted(Comparator.comparing((SlowToken each) -> each.delay().time())
                        .reversed())
                .limit(SHOWN)
                .toList();
    }
}

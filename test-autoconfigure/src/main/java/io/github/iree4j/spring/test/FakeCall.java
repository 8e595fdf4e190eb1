package io.github.iree4j.spring.test;

import java.time.Duration;
import java.util.Optional;

/** A recorded call of a scripted function. */
public final class FakeCall {
    private final String function;
    private final Duration start;
    private final Optional<Duration> end;

    private FakeCall(String function, Duration start, Optional<Duration> end) {
        this.function = function;
        this.start = start;
        this.end = end;
    }

    static FakeCall begun(String function, Duration start) {
        return new FakeCall(function, start, Optional.empty());
    }

    FakeCall ended(Duration time) {
        return new FakeCall(function, start, Optional.of(time));
    }

    /**
     * Returns the function.
     *
     * @return the program's name, a dot, the function's name
     */
    public String function() {
        return function;
    }

    /**
     * Returns the start of the call.
     *
     * @return a time as of {@link FakePrograms#now()}
     */
    public Duration start() {
        return start;
    }

    /**
     * Returns the end of the call's work.
     *
     * @return a time as of {@link FakePrograms#now()}; empty while the call runs
     */
    public Optional<Duration> end() {
        return end;
    }

    @Override
    public String toString() {
        return function + " from " + start + end.map(time -> " to " + time).orElse("");
    }
}

package io.github.iree4j.spring.test;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.monitor.LeakReport;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.assertj.core.api.AbstractAssert;

/** Assertions on runtimes, timelines and scripted programs. */
public final class IreeAssertions {
    private IreeAssertions() {}

    /**
     * Asserts on a runtime.
     *
     * @param actual the runtime
     * @return the assertions
     */
    public static RuntimeAssert assertThat(IreeRuntime actual) {
        return new RuntimeAssert(actual);
    }

    /**
     * Asserts on a timeline.
     *
     * @param actual the timeline
     * @return the assertions
     */
    public static TimelineAssert assertThat(Timeline actual) {
        return new TimelineAssert(actual);
    }

    /**
     * Asserts on the calls of scripted programs.
     *
     * @param actual the programs
     * @return the assertions
     */
    public static CallsAssert assertThat(FakePrograms actual) {
        return new CallsAssert(actual);
    }

    /** Assertions on a runtime. */
    public static final class RuntimeAssert extends AbstractAssert<RuntimeAssert, IreeRuntime> {
        RuntimeAssert(IreeRuntime actual) {
            super(actual, RuntimeAssert.class);
        }

        /**
         * Asserts that no tensor is open or was garbage-collected without being closed.
         *
         * @return this
         */
        public RuntimeAssert hasNoOpenTensors() {
            LeakReport report = actual.monitor().leaks();
            if (report.openTensors() != 0 || report.forgottenTensors() != 0) {
                failWithMessage(
                        "expected no open tensors, but %d are open and %d were not closed: %s",
                        report.openTensors(), report.forgottenTensors(), report.open());
            }
            return this;
        }
    }

    /** Assertions on a timeline. */
    public static final class TimelineAssert extends AbstractAssert<TimelineAssert, Timeline> {
        TimelineAssert(Timeline actual) {
            super(actual, TimelineAssert.class);
        }

        /**
         * Asserts that the timeline is at a point.
         *
         * @param value the point
         * @return this
         */
        public TimelineAssert isAt(long value) {
            if (actual.value() != value) {
                failWithMessage("expected the timeline to be at %d, but the value is %d", value, actual.value());
            }
            return this;
        }

        /**
         * Asserts that the timeline has reached a point.
         *
         * @param value the point
         * @return this
         */
        public TimelineAssert hasReached(long value) {
            if (actual.value() < value) {
                failWithMessage("expected the timeline to have reached %d, but the value is %d", value, actual.value());
            }
            return this;
        }

        /**
         * Asserts that the timeline has failed.
         *
         * @param code the status code
         * @return this
         */
        public TimelineAssert hasFailedWith(StatusCode code) {
            Optional<IreeException> failure = actual.at(Long.MAX_VALUE - 1).failure();
            if (failure.map(IreeException::code).filter(code::equals).isEmpty()) {
                failWithMessage(
                        "expected the timeline to have failed with %s, but %s",
                        code, failure.map(IreeException::toString).orElse("it has not failed"));
            }
            return this;
        }
    }

    /** Assertions on calls. */
    public static final class CallsAssert extends AbstractAssert<CallsAssert, FakePrograms> {
        CallsAssert(FakePrograms actual) {
            super(actual, CallsAssert.class);
        }

        /**
         * Asserts that exactly these calls were made, in this order.
         *
         * @param functions each the program's name, a dot, the function's name
         * @return this
         */
        public CallsAssert wereCalled(String... functions) {
            List<String> made = actual.calls().stream().map(FakeCall::function).toList();
            if (!made.equals(List.of(functions))) {
                failWithMessage("expected calls of %s, but there were %s", List.of(functions), made);
            }
            return this;
        }

        /**
         * Asserts that each of these calls completed before the next was made, as ordered by timelines.
         *
         * @param functions each the program's name, a dot, the function's name; looked for in the order of the calls
         * @return this
         */
        public CallsAssert ranOneAfterTheOther(String... functions) {
            List<FakeCall> rest = new ArrayList<>(actual.calls());
            FakeCall before = null;
            for (String function : functions) {
                FakeCall call = rest.stream()
                        .filter(each -> each.function().equals(function))
                        .findFirst()
                        .orElse(null);
                if (call == null) {
                    failWithMessage("expected a call of '%s', but there were %s", function, actual.calls());
                    return this;
                }
                if (before != null
                        && before.end()
                                .filter(end -> end.compareTo(call.start()) <= 0)
                                .isEmpty()) {
                    failWithMessage("expected %s to be done before %s", before, call);
                }
                rest.remove(call);
                before = call;
            }
            return this;
        }
    }
}

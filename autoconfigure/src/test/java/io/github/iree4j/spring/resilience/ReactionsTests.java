package io.github.iree4j.spring.resilience;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.CallOptions;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.Results;
import io.github.iree4j.async.Deadline;
import io.github.iree4j.spring.Fault;
import io.github.iree4j.spring.InvocationRequest;
import io.github.iree4j.spring.LoadedProgram;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.RetryLater;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.http.HttpStatuses;
import io.github.iree4j.status.CallTimeoutException;
import io.github.iree4j.status.DeviceLost;
import io.github.iree4j.status.DeviceLostException;
import io.github.iree4j.status.InvalidInputException;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.KernelFault;
import io.github.iree4j.status.NeverFits;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.status.TransientFailureException;
import io.github.resilience4j.retry.Retry;
import io.github.resilience4j.retry.RetryConfig;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The class of a failure, the HTTP answer, the retry and the fault agree, for every code with every detail. */
@Timeout(900)
class ReactionsTests {
    private static final Duration LIMIT = Duration.ofSeconds(5);

    private final IreeRuntime runtime = IreeRuntime.create();
    private final Program program = TestModules.idle(runtime);

    @AfterEach
    void close() {
        program.close();
        runtime.close();
    }

    private static Stream<IreeException> failures() {
        return Stream.of(StatusCode.values())
                .filter(code -> code != StatusCode.OK)
                .flatMap(code -> Stream.concat(
                        Stream.of(IreeException.of(code, "no")),
                        Stream.of(
                                        new NeverFits(16),
                                        new DeviceLost("gpu"),
                                        new KernelFault(),
                                        new RetryLater(Duration.ofSeconds(3)))
                                .map(detail -> IreeException.of(code, "no", null, detail))));
    }

    private boolean isRetried(IreeException failure) {
        Retry retry = Retry.of(
                "iree.m",
                RetryConfig.custom()
                        .maxAttempts(2)
                        .waitDuration(Duration.ofMillis(1))
                        .build());
        AtomicInteger attempts = new AtomicInteger();
        CompletableFuture<Results> call = new ResilienceInterceptor(
                        Map.of("m", new ModelProtection(null, null, null, retry)))
                .intercept(
                        new InvocationRequest(
                                new LoadedProgram(ProgramSource.of("m", "m.vmfb"), List.of(program)),
                                program.function("f"),
                                List.of(),
                                CallOptions.DEFAULTS,
                                false),
                        _ -> {
                            attempts.incrementAndGet();
                            return CompletableFuture.failedFuture(failure);
                        });
        assertThat(call).failsWithin(LIMIT);
        return attempts.get() > 1;
    }

    @ParameterizedTest
    @MethodSource("failures")
    void everyReactionIsTheReactionOfTheClass(IreeException failure) {
        int status = HttpStatuses.of(failure).value();
        boolean mayComeAgain = HttpStatuses.retryAfter(failure) > 0
                && failure.detail(RetryLater.class).isEmpty();
        boolean isRetried = isRetried(failure);
        Fault fault = Fault.of(failure, null, LIMIT);
        switch (failure) {
            case TransientFailureException _ -> {
                assertThat(status).isIn(503, 429);
                assertThat(HttpStatuses.retryAfter(failure)).isPositive();
                assertThat(isRetried).isTrue();
                assertThat(fault).isIn(Fault.UNKNOWN, Fault.DEVICE);
            }
            case InvalidInputException _ -> {
                assertThat(status).isIn(400, 413);
                assertThat(mayComeAgain).isFalse();
                assertThat(isRetried).isFalse();
                assertThat(fault).isEqualTo(Fault.CALLER);
            }
            case CallTimeoutException _ -> {
                assertThat(status).isEqualTo(504);
                assertThat(mayComeAgain).isFalse();
                assertThat(isRetried).isFalse();
                assertThat(fault).isEqualTo(Fault.MODEL);
                assertThat(Fault.of(failure, Deadline.after(Duration.ZERO), LIMIT))
                        .isEqualTo(Fault.CALLER);
            }
            case DeviceLostException _ -> {
                assertThat(status).isEqualTo(503);
                assertThat(HttpStatuses.retryAfter(failure)).as("elsewhere").isPositive();
                assertThat(isRetried).as("here").isFalse();
                assertThat(fault).isEqualTo(Fault.DEVICE);
            }
            case IreeException _ -> {
                assertThat(status).isEqualTo(HttpStatuses.of(failure.code()).value());
                assertThat(mayComeAgain)
                        .isEqualTo(failure.code() == StatusCode.ABORTED
                                && failure.detail(RetryLater.class).isEmpty());
                assertThat(isRetried).isFalse();
            }
        }
    }
}

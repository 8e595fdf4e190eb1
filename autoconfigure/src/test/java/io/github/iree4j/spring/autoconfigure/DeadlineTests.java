package io.github.iree4j.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.async.Deadline;
import io.github.iree4j.spring.InvocationInterceptor;
import io.github.iree4j.spring.InvocationOperations;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.InvocationSpec;
import io.github.iree4j.spring.ProgramLoadException;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.autoconfigure.resilience.IreeResilienceAutoConfiguration;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cloud.context.environment.EnvironmentChangeEvent;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.MapPropertySource;

/** Calls and loads have a deadline unless the configuration says otherwise. */
@Timeout(300)
class DeadlineTests {

    @TempDir
    Path directory;

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(IreeAutoConfiguration.class, IreeResilienceAutoConfiguration.class));

    @ParameterizedTest
    @CsvSource({
        "iree.device=local, 60s",
        "iree.invocation.timeout=5s, 5s",
        "iree.invocation.timeout=0,",
        "iree.modules.adding.timeout=0,"
    })
    void aCallHasTheDeadlineOfTheConfiguration(String property, @Nullable String expected) throws Exception {
        runner.withUserConfiguration(Seen.class)
                .withPropertyValues("iree.modules.adding.location=" + TestModules.adder(directory), property)
                .run(context -> {
                    context.getBean(InvocationService.class)
                            .invoke("adding.add", 1, 2)
                            .close();
                    assertThat(context.getBean(Seen.class).timeouts)
                            .containsExactly(expected == null ? null : Duration.parse("PT" + expected.toUpperCase()));
                });
    }

    @Test
    void aThreadInALateCallGoesOnWithoutAnInterrupt() throws Exception {
        runner.withPropertyValues(
                        "iree.modules.spinning.location=" + TestModules.spinner(directory),
                        "iree.invocation.timeout=1s")
                .run(context -> {
                    assertThatExceptionOfType(IreeException.class)
                            .isThrownBy(() ->
                                    context.getBean(InvocationService.class).invoke("spinning.spin"))
                            .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED));
                    assertThat(Thread.interrupted()).isFalse();
                    assertThat(context.getBean(Programs.class).activeCalls()).isZero();
                });
    }

    @Test
    void aProgramAndItsFunctionsHaveTheDeadlineOfTheConfigurationAsWell() throws Exception {
        runner.withPropertyValues(
                        "iree.modules.spinning.location=" + TestModules.spinner(directory),
                        "iree.modules.spinning.contexts=2",
                        "iree.invocation.timeout=1h",
                        "iree.modules.spinning.timeout=100ms")
                .run(context -> {
                    Program bean = context.getBean(Program.class);
                    ProgramFunction found =
                            context.getBean(InvocationOperations.class).function("spinning.spin");
                    context.getBean(Programs.class).load("spinning", null);
                    for (ProgramFunction each : List.of(
                            bean.function("spin"),
                            found,
                            context.getBean(Program.class).function("spin"))) {
                        isLate(each::invoke);
                    }
                    assertThat(Thread.interrupted()).isFalse();
                });
    }

    @Test
    void aChangedTimeoutHoldsForLoadedPrograms() throws Exception {
        runner.withPropertyValues("iree.modules.spinning.location=" + TestModules.spinner(directory))
                .run(context -> {
                    context.getSourceApplicationContext()
                            .getEnvironment()
                            .getPropertySources()
                            .addFirst(new MapPropertySource("changed", Map.of("iree.invocation.timeout", "100ms")));
                    context.publishEvent(new EnvironmentChangeEvent(context));
                    isLate(context.getBean(Program.class).function("spin")::invoke);
                });
    }

    @Test
    void aLongerDeadlineOfACallerDoesNotLengthenTheLimit() throws Exception {
        runner.withPropertyValues(
                        "iree.modules.spinning.location=" + TestModules.spinner(directory),
                        "iree.invocation.timeout=40ms")
                .run(context -> assertThatExceptionOfType(IreeException.class)
                        .isThrownBy(() -> context.getBean(InvocationService.class)
                                .request("spinning.spin")
                                .timeout(Duration.ofDays(300_000))
                                .invoke())
                        .withMessageContaining("40 ms"));
    }

    @Test
    void interceptorsAndTheCallShareTheTime() throws Exception {
        AtomicLong clock = new AtomicLong();
        runner.withBean(InvocationInterceptor.class, () -> (request, chain) -> {
                    clock.addAndGet(Duration.ofSeconds(2).toNanos());
                    return chain.proceed(request);
                })
                .withPropertyValues("iree.modules.adding.location=" + TestModules.adder(directory))
                .run(context -> {
                    InvocationSpec request = context.getBean(InvocationService.class)
                            .request("adding.add")
                            .inputs(1, 2);
                    Deadline deadline = Deadline.after(Duration.ofSeconds(3), clock::get);
                    request.deadline(deadline).invoke().close();
                    isLate(request.deadline(deadline)::invoke);
                    isLate(request.deadline(deadline).invokeAsync()::await);
                });
    }

    private static void isLate(ThrowingCallable call) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(call)
                .extracting(IreeException::code)
                .isEqualTo(StatusCode.DEADLINE_EXCEEDED);
    }

    @Test
    void aLateLoadFails() throws Exception {
        runner.withPropertyValues("iree.loading.timeout=200ms").run(context -> {
            Programs programs = context.getBean(Programs.class);
            ProgramSource endless =
                    ProgramSource.of("endless", TestModules.endless(directory).toString());
            assertThatExceptionOfType(ProgramLoadException.class)
                    .isThrownBy(() -> programs.load(endless))
                    .havingCause()
                    .isInstanceOf(IreeException.class)
                    .withMessageContaining("iree.loading.timeout")
                    .satisfies(e -> assertThat(((IreeException) e).code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED));
            assertThat(Thread.interrupted()).isFalse();
            assertThat(context.getBean(IreeRuntime.class).programs()).isEmpty();
        });
    }

    @Test
    void aLateWarmUpFails() throws Exception {
        String location = TestModules.spinner(directory).toString();
        runner.withPropertyValues("iree.loading.timeout=200ms").run(context -> {
            Programs programs = context.getBean(Programs.class);
            ProgramSource spinning = ProgramSource.builder("spinning", location)
                    .warmUps(List.of(new ProgramSource.WarmUp("spin", List.of(), 1)))
                    .build();
            assertThatExceptionOfType(ProgramLoadException.class).isThrownBy(() -> programs.load(spinning));
            assertThat(context.getBean(IreeRuntime.class).programs())
                    .as("left of it")
                    .noneMatch(program -> !program.isClosed());
        });
    }

    /** Sees the durations of deadlines: the time of a call has begun before its interceptors. */
    @Configuration(proxyBeanMethods = false)
    static class Seen {
        private final List<@Nullable Duration> timeouts = new ArrayList<>();

        @Bean
        InvocationInterceptor seeing() {
            return (request, chain) -> {
                timeouts.add(request.options().deadline().map(Deadline::timeout).orElse(null));
                return chain.proceed(request);
            };
        }
    }
}

package io.github.iree4j.spring.observation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.Results;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.monitor.CallListener;
import io.github.iree4j.spring.InvocationInterceptor;
import io.github.iree4j.spring.InvocationRequest;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.observation.IreeObservationAutoConfiguration;
import io.github.iree4j.status.IreeException;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Timeout(900)
class ObservationInvocationInterceptorTests {

    private final ApplicationContextRunner bare = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(IreeAutoConfiguration.class, IreeObservationAutoConfiguration.class));

    private ApplicationContextRunner runner(Path directory) throws Exception {
        return bare.withUserConfiguration(Registry.class)
                .withPropertyValues(
                        "iree.modules.adding.location=" + TestModules.adder(directory),
                        "iree.device=cpu",
                        "iree.devices.cpu.uri=local");
    }

    @Test
    void aCallIsObservedWithProgramFunctionDeviceAndOutcome(@TempDir Path directory) throws Exception {
        runner(directory).run(context -> {
            try (Results results = context.getBean(InvocationService.class).invoke("adding.add", 1, 2)) {
                assertThat(results.intValue(0)).isEqualTo(3);
            }
            TestObservationRegistryAssert.assertThat(context.getBean(TestObservationRegistry.class))
                    .hasObservationWithNameEqualTo("iree.invocations")
                    .that()
                    .hasContextualNameEqualTo("invoke adding.add")
                    .hasLowCardinalityKeyValue("module", "adding")
                    .hasLowCardinalityKeyValue("function", "add")
                    .hasLowCardinalityKeyValue("device", "cpu")
                    .hasLowCardinalityKeyValue("outcome", "OK")
                    .hasLowCardinalityKeyValue("fault", "none")
                    .hasHighCardinalityKeyValue("iree.module.version", "1")
                    .hasBeenStarted()
                    .hasBeenStopped();
        });
    }

    @Test
    void aFailureIsObservedWithTheCodeOfItsStatus(@TempDir Path directory) throws Exception {
        runner(directory).run(context -> {
            InvocationService invocations = context.getBean(InvocationService.class);
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> invocations.invoke("adding.refuse"))
                    .satisfies(e -> TestObservationRegistryAssert.assertThat(
                                    context.getBean(TestObservationRegistry.class))
                            .hasObservationWithNameEqualTo("iree.invocations")
                            .that()
                            .hasLowCardinalityKeyValue("outcome", e.code().name())
                            .hasError()
                            .hasBeenStopped());
        });
    }

    @Test
    void theHasteOfACallerIsObservedAsTheCallersFault(@TempDir Path directory) throws Exception {
        runner(directory).run(context -> {
            try (Timeline timeline = context.getBean(IreeRuntime.class).createTimeline();
                    Fence never = timeline.at(1)) {
                CompletableFuture<Results> call = context.getBean(InvocationService.class)
                        .request("adding.add")
                        .inputs(1, 2)
                        .after(never)
                        .timeout(Duration.ofNanos(1000))
                        .invokeAsync();
                assertThatExceptionOfType(CompletionException.class).isThrownBy(call::join);
                TestObservationRegistryAssert.assertThat(context.getBean(TestObservationRegistry.class))
                        .hasObservationWithNameEqualTo("iree.invocations")
                        .that()
                        .hasLowCardinalityKeyValue("outcome", "DEADLINE_EXCEEDED")
                        .hasLowCardinalityKeyValue("fault", "caller");
            }
        });
    }

    @Test
    void callbacksRunInTheScopeOfTheCaller(@TempDir Path directory) throws Exception {
        runner(directory).run(context -> {
            ObservationRegistry registry = context.getBean(ObservationRegistry.class);
            AtomicReference<Observation> seen = new AtomicReference<>();
            Observation caller = Observation.start("caller", registry);
            try (Timeline timeline = context.getBean(IreeRuntime.class).createTimeline();
                    Fence after = timeline.at(1)) {
                CompletableFuture<Void> done;
                try (Observation.Scope _ = caller.openScope()) {
                    done = context.getBean(InvocationService.class)
                            .request("adding.add")
                            .inputs(1, 2)
                            .after(after)
                            .invokeAsync()
                            .thenAccept(results -> {
                                seen.set(registry.getCurrentObservation());
                                results.close();
                            });
                }
                timeline.semaphore().signal(1);
                done.join();
            }
            caller.stop();
            assertThat(seen.get()).isSameAs(caller);
        });
    }

    @Test
    void cancellingReachesTheCallAndIsObserved(@TempDir Path directory) throws Exception {
        runner(directory).run(context -> {
            try (Timeline timeline = context.getBean(IreeRuntime.class).createTimeline();
                    Fence never = timeline.at(1)) {
                CompletableFuture<Results> call = context.getBean(InvocationService.class)
                        .request("adding.add")
                        .inputs(1, 2)
                        .after(never)
                        .invokeAsync();
                assertThat(call.cancel(true)).isTrue();
                TestObservationRegistryAssert.assertThat(context.getBean(TestObservationRegistry.class))
                        .hasObservationWithNameEqualTo("iree.invocations")
                        .that()
                        .hasLowCardinalityKeyValue("outcome", "CANCELLED")
                        .hasLowCardinalityKeyValue("fault", "caller")
                        .hasBeenStopped();
            }
        });
    }

    @Test
    void theIdOfACallIsInItsSpanAlsoWithinAnObservationOfTheApplication(@TempDir Path directory) throws Exception {
        runner(directory).withUserConfiguration(OwnObservation.class).run(context -> {
            Program program =
                    context.getBean(IreeRuntime.class).programs().iterator().next();
            try (Timeline timeline = context.getBean(IreeRuntime.class).createTimeline();
                    Fence never = timeline.at(1)) {
                CompletableFuture<Results> call = context.getBean(InvocationService.class)
                        .request("adding.add")
                        .inputs(1, 2)
                        .after(never)
                        .invokeAsync();
                long id = program.monitor().pendingCalls(1).getFirst().id();
                assertThat(program.monitor().cancelCall(id)).isTrue();
                assertThatExceptionOfType(CompletionException.class).isThrownBy(call::join);
                TestObservationRegistryAssert.assertThat(context.getBean(TestObservationRegistry.class))
                        .hasObservationWithNameEqualTo("iree.invocations")
                        .that()
                        .hasHighCardinalityKeyValue("iree.call", Long.toString(id))
                        .hasLowCardinalityKeyValue("outcome", "CANCELLED");
            }
        });
    }

    @Test
    void ofSeveralAttemptsTheLastIsInTheSpan(@TempDir Path directory) throws Exception {
        runner(directory).withUserConfiguration(Retry.class).run(context -> {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> context.getBean(InvocationService.class).invoke("adding.refuse"));
            List<Long> attempts = context.getBean(Retry.class).attempts;
            assertThat(attempts).hasSize(2);
            TestObservationRegistryAssert.assertThat(context.getBean(TestObservationRegistry.class))
                    .hasObservationWithNameEqualTo("iree.invocations")
                    .that()
                    .hasHighCardinalityKeyValue("iree.call", attempts.getLast().toString());
        });
    }

    @Test
    void aCallMadeByTheCallIsNotInTheSpan(@TempDir Path directory) throws Exception {
        runner(directory).withUserConfiguration(Retry.class).run(context -> {
            context.getBean(InvocationService.class).invoke("adding.add", 1, 2).close();
            InvocationObservationContext observed = new InvocationObservationContext(
                    Objects.requireNonNull(context.getBean(Retry.class).request), "cpu");
            observed.begins(3, 0);
            observed.begins(4, 3);
            assertThat(observed.call()).isEqualTo(3);
        });
    }

    @Test
    void userConventionReplacesTheDefault(@TempDir Path directory) throws Exception {
        runner(directory).withUserConfiguration(OwnConvention.class).run(context -> {
            context.getBean(InvocationService.class).invoke("adding.add", 1, 2).close();
            TestObservationRegistryAssert.assertThat(context.getBean(TestObservationRegistry.class))
                    .hasObservationWithNameEqualTo("my.calls");
        });
    }

    @Test
    void absentWithoutARegistry() {
        bare.run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(ObservationInvocationInterceptor.class));
    }

    @Test
    void absentWithoutMicrometerOnClasspath() {
        bare.withClassLoader(new FilteredClassLoader("io.micrometer"))
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .hasSingleBean(InvocationService.class)
                        .doesNotHaveBean("ireeObservationInvocationInterceptor"));
    }

    @Configuration(proxyBeanMethods = false)
    static class Registry {
        @Bean
        TestObservationRegistry registry() {
            return TestObservationRegistry.create();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnObservation {
        @Bean
        InvocationInterceptor observing(ObservationRegistry registry) {
            return (request, chain) -> {
                Observation own = Observation.start("own", registry);
                try (Observation.Scope _ = own.openScope()) {
                    return chain.proceed(request).whenComplete((_, _) -> own.stop());
                }
            };
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Retry {
        private final List<Long> attempts = new CopyOnWriteArrayList<>();
        private volatile @Nullable InvocationRequest request;

        @Bean
        InvocationInterceptor retrying() {
            return (request, chain) -> {
                this.request = request;
                CompletableFuture<Results> first = chain.proceed(request);
                return first.isCompletedExceptionally() ? chain.proceed(request) : first;
            };
        }

        @Bean
        CallListener counting() {
            return (call, caller) -> attempts.add(call);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnConvention {
        @Bean
        InvocationObservationConvention convention() {
            return new DefaultInvocationObservationConvention() {
                @Override
                public String getName() {
                    return "my.calls";
                }
            };
        }
    }
}

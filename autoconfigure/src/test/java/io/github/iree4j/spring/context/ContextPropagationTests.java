package io.github.iree4j.spring.context;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Results;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.spring.InvocationInterceptor;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.InvocationSpec;
import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.context.IreeContextPropagationAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.observation.IreeObservationAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.reactive.IreeReactiveAutoConfiguration;
import io.github.iree4j.spring.reactive.ReactiveInvocationService;
import io.micrometer.context.ContextRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.contextpropagation.ObservationThreadLocalAccessor;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.MDC;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Mono;

/** Propagation of the caller's context to the completing thread of the call. */
@Timeout(900)
class ContextPropagationTests {

    @TempDir
    private Path directory;

    private final ApplicationContextRunner bare = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    IreeAutoConfiguration.class,
                    IreeContextPropagationAutoConfiguration.class,
                    IreeObservationAutoConfiguration.class,
                    IreeReactiveAutoConfiguration.class));

    /** The context of a thread. */
    private record Seen(@Nullable String user, @Nullable Observation observation) {
        static Seen now(ObservationRegistry registry) {
            return new Seen(MDC.get("user"), registry.getCurrentObservation());
        }
    }

    @BeforeEach
    @AfterEach
    void clearMdc() {
        MDC.clear();
    }

    private ApplicationContextRunner runner() throws Exception {
        return bare.withUserConfiguration(Registry.class)
                .withPropertyValues("iree.modules.adding.location=" + TestModules.adder(directory));
    }

    private static InvocationSpec add(InvocationService invocations, Fence after) {
        return invocations.request("adding.add").inputs(1, 2).after(after);
    }

    @Test
    void continuationsSeeTheMdcAndObservationOfTheCaller() throws Exception {
        runner().run(context -> {
            ObservationRegistry registry = context.getBean(ObservationRegistry.class);
            Observation caller = Observation.start("caller", registry);
            try (Timeline timeline = context.getBean(IreeRuntime.class).createTimeline();
                    Fence after = timeline.at(1)) {
                CompletableFuture<Seen> seen;
                MDC.put("user", "caller");
                try (Observation.Scope _ = caller.openScope()) {
                    seen = add(context.getBean(InvocationService.class), after)
                            .invokeAsync()
                            .thenApply(results -> {
                                results.close();
                                return Seen.now(registry);
                            });
                }
                MDC.put("user", "another caller"); // this thread may complete the call
                timeline.semaphore().signal(1);
                assertThat(seen.join()).isEqualTo(new Seen("caller", caller));
                assertThat(MDC.get("user")).isEqualTo("another caller");
            }
            caller.stop();
        });
    }

    @Test
    void continuationsOfACallerWithoutContextSeeNone() throws Exception {
        runner().run(context -> {
            try (Timeline timeline = context.getBean(IreeRuntime.class).createTimeline();
                    Fence after = timeline.at(1)) {
                AtomicReference<String> seen = new AtomicReference<>("nothing seen");
                CompletableFuture<Void> done = add(context.getBean(InvocationService.class), after)
                        .invokeAsync()
                        .thenAccept(results -> {
                            results.close();
                            seen.set(MDC.get("user"));
                        });
                MDC.put("user", "another caller");
                timeline.semaphore().signal(1);
                done.join();
                assertThat(seen.get()).isNull();
            }
        });
    }

    @Test
    void interceptorsSeeTheContextOnCompletion() throws Exception {
        runner().withUserConfiguration(Watcher.class).run(context -> {
            ObservationRegistry registry = context.getBean(ObservationRegistry.class);
            Observation caller = Observation.start("caller", registry);
            try (Timeline timeline = context.getBean(IreeRuntime.class).createTimeline();
                    Fence after = timeline.at(1)) {
                CompletableFuture<Results> call;
                MDC.put("user", "caller");
                try (Observation.Scope _ = caller.openScope()) {
                    call = add(context.getBean(InvocationService.class), after).invokeAsync();
                }
                MDC.clear();
                timeline.semaphore().signal(1);
                call.join().close();
            }
            caller.stop();
            // join() may return before all continuations have run.
            Seen seen = context.getBean(Watcher.class).seen.get(60, TimeUnit.SECONDS);
            assertThat(seen.user()).isEqualTo("caller");
            // The interceptor runs within the observation of the call, whose parent is the caller's.
            assertThat(seen.observation()).isNotNull();
            assertThat(seen.observation().getContextView().getName()).isEqualTo("iree.invocations");
            assertThat(seen.observation().getContextView().getParentObservation())
                    .isSameAs(caller);
        });
    }

    @Test
    void reactorSubscribersSeeTheContext() throws Exception {
        runner().run(context -> {
            ObservationRegistry registry = context.getBean(ObservationRegistry.class);
            Observation caller = Observation.start("caller", registry);
            try (Timeline timeline = context.getBean(IreeRuntime.class).createTimeline();
                    Fence after = timeline.at(1)) {
                Mono<Seen> seen = context.getBean(ReactiveInvocationService.class)
                        .invoke(add(context.getBean(InvocationService.class), after))
                        .map(results -> {
                            results.close();
                            return Seen.now(registry);
                        })
                        .contextWrite(reactor -> reactor.put(ObservationThreadLocalAccessor.KEY, caller));
                MDC.put("user", "subscriber");
                CompletableFuture<Seen> future = seen.toFuture();
                MDC.clear();
                timeline.semaphore().signal(1);
                assertThat(future.join()).isEqualTo(new Seen("subscriber", caller));
                TestObservationRegistryAssert.assertThat(context.getBean(TestObservationRegistry.class))
                        .hasObservationWithNameEqualTo("iree.invocations")
                        .that()
                        .hasParentObservationEqualTo(caller);
            }
            caller.stop();
        });
    }

    @Test
    void registeredThreadLocalsArePropagated() throws Exception {
        ThreadLocal<String> tenant = new ThreadLocal<>();
        ContextRegistry.getInstance().registerThreadLocalAccessor("tenant", tenant);
        try {
            runner().run(context -> {
                try (Timeline timeline = context.getBean(IreeRuntime.class).createTimeline();
                        Fence after = timeline.at(1)) {
                    tenant.set("red");
                    CompletableFuture<String> seen = add(context.getBean(InvocationService.class), after)
                            .invokeAsync()
                            .thenApply(results -> {
                                results.close();
                                return tenant.get();
                            });
                    tenant.set("blue");
                    timeline.semaphore().signal(1);
                    assertThat(seen.join()).isEqualTo("red");
                }
            });
        } finally {
            ContextRegistry.getInstance().removeThreadLocalAccessor("tenant");
        }
    }

    @Test
    void cancellationReachesTheCall() throws Exception {
        runner().run(context -> {
            try (Timeline timeline = context.getBean(IreeRuntime.class).createTimeline();
                    Fence never = timeline.at(1)) {
                CompletableFuture<Results> call =
                        add(context.getBean(InvocationService.class), never).invokeAsync();
                assertThat(call.cancel(true)).isTrue();
                while (context.getBean(IreeRuntime.class)
                                .programs()
                                .getFirst()
                                .monitor()
                                .activeCalls()
                        > 0) {
                    Poll.pause();
                }
            }
        });
    }

    @Test
    void worksWithoutTheLibrary() {
        bare.withClassLoader(new FilteredClassLoader("io.micrometer.context"))
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .hasSingleBean(InvocationService.class)
                        .doesNotHaveBean(ContextInvocationInterceptor.class));
    }

    @Test
    void backsOffWhenUserDefinesTheBean() {
        ContextInvocationInterceptor own = new ContextInvocationInterceptor(new ContextRegistry(), 7);
        bare.withBean("ireeCallerContext", ContextInvocationInterceptor.class, () -> own)
                .run(context -> assertThat(context.getBean("ireeCallerContext")).isSameAs(own));
    }

    @Test
    void absentWhenDisabled() {
        bare.withPropertyValues("iree.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean(ContextInvocationInterceptor.class));
    }

    @Configuration(proxyBeanMethods = false)
    static class Registry {
        @Bean
        TestObservationRegistry registry() {
            return TestObservationRegistry.create();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Watcher {
        private final CompletableFuture<Seen> seen = new CompletableFuture<>();

        @Bean
        InvocationInterceptor watcher(ObservationRegistry registry) {
            return (request, chain) -> {
                CompletableFuture<Results> call = chain.proceed(request);
                call.whenComplete((_, _) -> seen.complete(Seen.now(registry)));
                return call;
            };
        }
    }
}

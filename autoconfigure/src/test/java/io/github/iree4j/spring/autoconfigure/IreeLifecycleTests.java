package io.github.iree4j.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.LeakCheck;
import io.github.iree4j.Program;
import io.github.iree4j.Results;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.spring.HungFile;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.IreeEvents;
import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.ProgramState;
import io.github.iree4j.spring.ProgramStatusEvent;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.BeansException;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.availability.ApplicationAvailability;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.PriorityOrdered;

/** Start and end of an application with work in flight. */
@Timeout(900)
class IreeLifecycleTests {

    @TempDir
    Path directory;

    private ConfigurableApplicationContext start(String... arguments) throws Exception {
        SpringApplication application = new SpringApplication(Application.class);
        application.setWebApplicationType(WebApplicationType.NONE);
        List<String> all = new ArrayList<>(List.of(arguments));
        all.add("--iree.modules.adding.location=" + TestModules.adder(directory));
        return application.run(all.toArray(String[]::new));
    }

    private static CompletableFuture<Results> call(ConfigurableApplicationContext context, Fence after) {
        return context.getBean(InvocationService.class)
                .request("adding.add")
                .inputs(1, 2)
                .after(after)
                .invokeAsync();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void callsInFlightEndBeforeTheApplicationStops(boolean virtualThreads) throws Exception {
        ConfigurableApplicationContext context = start("--spring.threads.virtual.enabled=" + virtualThreads);
        IreeRuntime runtime = context.getBean(IreeRuntime.class);
        Programs programs = context.getBean(Programs.class);
        InvocationService invocations = context.getBean(InvocationService.class);
        try (Timeline timeline = runtime.createTimeline();
                Fence after = timeline.at(1)) {
            CompletableFuture<Results> call = call(context, after);
            Thread closing = Thread.ofPlatform().start(context::close);
            while (!isRefused(programs)) {
                Poll.pause();
            }
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> invocations.invoke("adding.add", 1, 2))
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.UNAVAILABLE));
            assertThat(call).isNotDone();
            timeline.semaphore().signal(1);
            try (Results results = call.join()) {
                assertThat(results.intValue(0)).isEqualTo(3);
            }
            closing.join();
        }
        LeakCheck.assertNone(runtime);
    }

    @Test
    void callsExceedingTheDrainTimeoutAreCancelled() throws Exception {
        ConfigurableApplicationContext context = start("--iree.invocation.drain-timeout=50ms");
        IreeRuntime runtime = context.getBean(IreeRuntime.class);
        IreeEvents events = context.getBean(IreeEvents.class);
        try (Timeline timeline = runtime.createTimeline();
                Fence never = timeline.at(1)) {
            CompletableFuture<Results> call = call(context, never);
            context.close();
            assertThat(call)
                    .failsWithin(Duration.ofMinutes(1))
                    .withThrowableThat()
                    .withMessageMatching(".*call [0-9]+ of '.*\\.add' was cancelled: the application stops");
            assertThat(events.since(0, 100))
                    .extracting(IreeEvents.Event::type)
                    .contains("runtime.draining", "runtime.cancelled");
        }
        LeakCheck.assertNone(runtime);
    }

    /** A call in its turn, in a loop of bytecode, and a call in line. */
    @Test
    void callsOfThreadsEndWithTheReasonOfTheStop() throws Exception {
        ConfigurableApplicationContext context = start(
                "--iree.invocation.drain-timeout=50ms",
                "--iree.modules.spinning.location=" + TestModules.spinner(directory));
        InvocationService invocations = context.getBean(InvocationService.class);
        Program program =
                context.getBean(Programs.class).find("spinning").orElseThrow().program();
        List<CompletableFuture<String>> ends = List.of(new CompletableFuture<>(), new CompletableFuture<>());
        for (CompletableFuture<String> end : ends) {
            Thread.ofPlatform().start(() -> {
                try {
                    invocations.invoke("spinning.spin").close();
                } catch (IreeException e) {
                    end.complete(e.getMessage());
                }
            });
        }
        while (program.monitor().pendingCalls(10).size() != 2) {
            Poll.pause();
        }
        context.close();
        for (CompletableFuture<String> end : ends) {
            assertThat(end.join()).matches("call [0-9]+ of 'spinning.spin' was cancelled: the application stops");
        }
    }

    @Test
    void stoppingEndsEndlessThreadsInCallsAndLoadsInTheTimeOfAPhase() throws Exception {
        ConfigurableApplicationContext context = start(
                "--spring.lifecycle.timeout-per-shutdown-phase=12s",
                "--iree.invocation.drain-timeout=50ms",
                "--iree.modules.spinning.location=" + TestModules.spinner(directory),
                "--iree.modules.endless.load=background",
                "--iree.modules.endless.location=" + TestModules.endless(directory));
        IreeRuntime runtime = context.getBean(IreeRuntime.class);
        CompletableFuture<StatusCode> end = new CompletableFuture<>();
        Thread caller = spinningCall(context, end);
        long start = System.nanoTime();
        context.close();
        assertThat(System.nanoTime() - start).isLessThan(Duration.ofSeconds(12).toNanos());
        assertThat(end.join()).isEqualTo(StatusCode.CANCELLED);
        caller.join();
        LeakCheck.assertNone(runtime);
    }

    @ParameterizedTest
    @ValueSource(strings = {"background", "lazy"})
    @Timeout(120)
    @ExtendWith(OutputCaptureExtension.class)
    void stoppingDoesNotWaitForAnUnreadFile(String load, CapturedOutput output) throws Exception {
        HungFile hung = new HungFile(TestModules.adder(directory));
        SpringApplication application = new SpringApplication(Application.class);
        application.setWebApplicationType(WebApplicationType.NONE);
        application.addInitializers(context -> context.addProtocolResolver(hung.resolver()));
        ConfigurableApplicationContext context = application.run(
                "--spring.lifecycle.timeout-per-shutdown-phase=12s",
                "--iree.modules.hung.load=" + load,
                "--iree.modules.hung.location=" + HungFile.LOCATION);
        Programs programs = context.getBean(Programs.class);
        if (load.equals("lazy")) {
            Thread.ofPlatform().daemon().start(() -> programs.function("hung.add"));
        }
        Thread reader = hung.awaitReader();
        long start = System.nanoTime();
        context.close();
        assertThat(System.nanoTime() - start).isLessThan(Duration.ofSeconds(12).toNanos());
        assertThat(reader.isAlive()).isTrue();
        assertThat(reader.isDaemon()).isTrue();
        hung.answer();
        assertThat(programs.find("hung")).isEmpty();
        assertThat(output.getOut().lines().filter(line -> line.contains("hung")))
                .as("no failure")
                .isNotEmpty()
                .allMatch(line -> line.contains(" INFO "));
    }

    @Test
    @Timeout(120)
    void closingEndsAStartWaitingForAnUnreadFile() throws Exception {
        HungFile hung = new HungFile(TestModules.adder(directory));
        SpringApplication application = new SpringApplication(Application.class);
        application.setWebApplicationType(WebApplicationType.NONE);
        CompletableFuture<ConfigurableApplicationContext> starting = new CompletableFuture<>();
        application.addInitializers(context -> {
            context.addProtocolResolver(hung.resolver());
            starting.complete(context);
        });
        CompletableFuture<Throwable> end = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> {
            try {
                application
                        .run("--iree.modules.hung.location=" + HungFile.LOCATION)
                        .close();
                end.complete(new AssertionError("started"));
            } catch (RuntimeException e) {
                end.complete(e);
            }
        });
        hung.awaitReader();
        starting.join().close();
        assertThat(end.join()).isInstanceOf(BeansException.class);
        hung.answer();
    }

    @Test
    void requestsAwaitedByAStoppingWebServerEndInTheTimeOfAPhase() throws Exception {
        CompletableFuture<StatusCode> end = new CompletableFuture<>();
        SpringApplication application = new SpringApplication(Application.class);
        application.setWebApplicationType(WebApplicationType.NONE);
        application.addInitializers(
                context -> context.getBeanFactory().registerSingleton("server", new GracefulServer(end)));
        ConfigurableApplicationContext context = application.run(
                "--spring.lifecycle.timeout-per-shutdown-phase=60s",
                "--iree.invocation.drain-timeout=50ms",
                "--iree.modules.spinning.location=" + TestModules.spinner(directory));
        Thread request = spinningCall(context, end);
        long start = System.nanoTime();
        context.close();
        assertThat(System.nanoTime() - start).isLessThan(Duration.ofSeconds(60).toNanos());
        assertThat(end.join()).isEqualTo(StatusCode.CANCELLED);
        request.join();
    }

    /** A thread in a call without an end of its own. */
    private static Thread spinningCall(ConfigurableApplicationContext context, CompletableFuture<StatusCode> end) {
        InvocationService invocations = context.getBean(InvocationService.class);
        Thread caller = Thread.ofPlatform().start(() -> {
            try {
                invocations.invoke("spinning.spin").close();
            } catch (IreeException e) {
                end.complete(e.code());
            }
        });
        while (context.getBean(Programs.class).activeCalls() == 0) {
            Poll.pause();
        }
        return caller;
    }

    /** Stops when a request has ended, as web servers do. */
    private static final class GracefulServer implements SmartLifecycle {
        private final CompletableFuture<StatusCode> request;
        private volatile boolean running;

        GracefulServer(CompletableFuture<StatusCode> request) {
            this.request = request;
        }

        @Override
        public void start() {
            running = true;
        }

        @Override
        public void stop(Runnable callback) {
            running = false;
            request.whenComplete((_, _) -> callback.run());
        }

        @Override
        public void stop() {
            throw new IllegalStateException("stopped without a callback");
        }

        @Override
        public boolean isRunning() {
            return running;
        }

        @Override
        public int getPhase() {
            return DEFAULT_PHASE - 1024;
        }
    }

    @Test
    void stoppingDoesNotWaitForEndlessCodeOfADevice() throws Exception {
        ConfigurableApplicationContext context =
                start("--spring.lifecycle.timeout-per-shutdown-phase=6s", "--iree.invocation.drain-timeout=50ms");
        IreeRuntime runtime = context.getBean(IreeRuntime.class);
        CountDownLatch go = new CountDownLatch(1);
        try (Timeline timeline = runtime.createTimeline();
                Fence after = timeline.at(1)) {
            runtime.device().queue(0).hostCall(null, after, () -> waitFor(go), 0);
            CompletableFuture<Results> call = call(context, after);
            long start = System.nanoTime();
            context.close();
            assertThat(System.nanoTime() - start)
                    .isLessThan(Duration.ofSeconds(6).toNanos());
            assertThat(call).isDone();
            go.countDown();
        }
    }

    private static void waitFor(CountDownLatch go) {
        boolean over = false;
        while (!over) {
            try {
                go.await();
                over = true;
            } catch (InterruptedException e) {
                // like code of a device, without interrupts
            }
        }
    }

    @Test
    void restartedContextAcceptsCallsAgain() throws Exception {
        try (ConfigurableApplicationContext context = start()) {
            context.stop();
            assertThat(isRefused(context.getBean(Programs.class))).isTrue();
            context.start();
            try (Results results = context.getBean(InvocationService.class).invoke("adding.add", 1, 2)) {
                assertThat(results.intValue(0)).isEqualTo(3);
            }
        }
    }

    @Test
    void listenersDependingOnProgramsReceiveTheirLoadEvents() throws Exception {
        try (ConfigurableApplicationContext context = start(
                "--iree.modules.later.load=lazy", "--iree.modules.later.location=" + TestModules.adder(directory))) {
            Listener listener = context.getBean(Listener.class);
            assertThat(listener.heard).containsExactly("adding LOADING", "adding READY");
            listener.heard.clear();
            context.getBean(InvocationService.class).invoke("later.add", 1, 2).close();
            assertThat(listener.heard).containsExactly("later LOADING", "later READY");
        }
    }

    @Test
    void backgroundProgramIsLoadedAfterStartup() throws Exception {
        try (ConfigurableApplicationContext context = start(
                "--iree.modules.later.load=background",
                "--iree.modules.later.location=" + TestModules.adder(directory))) {
            try (Results results = context.getBean(InvocationService.class).invoke("later.add", 1, 2)) {
                assertThat(results.intValue(0)).isEqualTo(3); // a call waits for the loading
            }
            assertThat(context.getBean(Programs.class)
                            .versions("later")
                            .getFirst()
                            .state())
                    .isEqualTo(ProgramState.READY);
        }
    }

    @Test
    void programLoadedDuringTheReadinessEventMakesTheApplicationReady() throws Exception {
        Path late = directory.resolve("late").resolve("adder.vmfb");
        SpringApplication application = new SpringApplication(Application.class);
        application.setWebApplicationType(WebApplicationType.NONE);
        application.addInitializers(context -> context.addApplicationListener(new LoadsWhenNotReady(context, late)));
        try (ConfigurableApplicationContext context = application.run(
                "--iree.modules.late.load=background",
                "--iree.modules.late.location=" + late,
                "--spring.main.banner-mode=off")) {
            assertThat(context.getBean(ApplicationAvailability.class).getReadinessState())
                    .isEqualTo(ReadinessState.ACCEPTING_TRAFFIC);
        }
    }

    /** Receives the readiness event first, and loads the program before other listeners receive it. */
    private record LoadsWhenNotReady(ConfigurableApplicationContext context, Path location)
            implements ApplicationListener<AvailabilityChangeEvent<ReadinessState>>, PriorityOrdered {
        @Override
        public void onApplicationEvent(AvailabilityChangeEvent<ReadinessState> event) {
            if (event.getState() == ReadinessState.REFUSING_TRAFFIC && !Files.exists(location)) {
                try {
                    TestModules.adder(Files.createDirectories(location.getParent()));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
                context.getBean(Programs.class).load("late", null);
            }
        }

        @Override
        public int getOrder() {
            return HIGHEST_PRECEDENCE;
        }
    }

    private static boolean isRefused(Programs programs) {
        try {
            programs.function("adding.add");
            return false;
        } catch (IreeException e) {
            return e.code() == StatusCode.UNAVAILABLE;
        }
    }

    /** Depends on the publisher of the events listened to. */
    static final class Listener implements ApplicationListener<ProgramStatusEvent> {
        private final List<String> heard = new ArrayList<>();

        Listener(InvocationService invocations) {
            assertThat(invocations).isNotNull();
        }

        @Override
        public synchronized void onApplicationEvent(ProgramStatusEvent event) {
            String now = event.status().source().name() + " " + event.status().state();
            if (heard.isEmpty() || !heard.getLast().equals(now)) {
                heard.add(now);
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {
        @Bean
        Listener listener(InvocationService invocations) {
            return new Listener(invocations);
        }
    }
}

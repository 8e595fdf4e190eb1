package io.github.iree4j.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.modules.parameters.IrpaWriter;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.IreeEvents;
import io.github.iree4j.spring.LoadedProgram;
import io.github.iree4j.spring.ProgramLoadException;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.metrics.buffering.BufferingApplicationStartup;
import org.springframework.boot.context.metrics.buffering.StartupTimeline;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.core.metrics.StartupStep;

class IreeAutoConfigurationTests {

    @TempDir
    static Path directory;

    private static Path adder;

    private final ApplicationContextRunner runner =
            new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(IreeAutoConfiguration.class));

    @BeforeAll
    static void assemble() throws IOException {
        adder = TestModules.adder(directory);
    }

    @Test
    void runtimeUsesLocalDeviceByDefault() {
        runner.run(context -> {
            assertThat(context).hasSingleBean(IreeRuntime.class);
            assertThat(context).hasSingleBean(Programs.class);
            assertThat(context).hasSingleBean(InvocationService.class);
            assertThat(context.getBean(IreeRuntime.class).device().info().driver())
                    .isEqualTo("local");
            assertThat(context.getBean(Programs.class).all()).isEmpty();
        });
    }

    @Test
    void workersComeFromProperties() {
        runner.withPropertyValues("iree.task.workers=3")
                .run(context -> assertThat(context.getBean(IreeRuntime.class)
                                .monitor()
                                .workers()
                                .executor()
                                .workers())
                        .isEqualTo(3));
        runner.withPropertyValues("iree.task.topology=each=0,0; workers=4", "iree.advanced.task.affinity=true")
                .run(context -> {
                    IreeRuntime runtime = context.getBean(IreeRuntime.class);
                    assertThat(runtime.monitor().workers().executor().workers()).isEqualTo(5);
                    assertThat(runtime.monitor().workers().topology())
                            .hasToString("cpus=0; cpus=any; cpus=any; cpus=any; cpus=any");
                    assertThat(runtime.monitor().workers().affinity()).isTrue();
                });
    }

    @Test
    void deviceComesFromProperty() {
        runner.withPropertyValues("iree.device=local-sync")
                .run(context -> assertThat(context.getBean(IreeRuntime.class)
                                .monitor()
                                .devices()
                                .names())
                        .containsExactly("local-sync"));
    }

    @Test
    void moduleMayRunOnItsOwnDevice() {
        runner.withPropertyValues(
                        "iree.modules.here.location=" + adder,
                        "iree.modules.there.location=" + adder,
                        "iree.modules.there.devices=local-sync")
                .run(context -> {
                    IreeRuntime runtime = context.getBean(IreeRuntime.class);
                    assertThat(runtime.monitor().devices().names()).containsExactly("local", "local-sync");
                    Programs programs = context.getBean(Programs.class);
                    assertThat(programs.find("here").orElseThrow().program().devices())
                            .containsExactly(runtime.devices().get(0));
                    assertThat(programs.find("there").orElseThrow().program().devices())
                            .containsExactly(runtime.devices().get(1));
                });
    }

    @Test
    void absentWhenDisabled() {
        runner.withPropertyValues("iree.enabled=false").run(context -> {
            assertThat(context).doesNotHaveBean(IreeRuntime.class);
            assertThat(context).doesNotHaveBean(InvocationService.class);
        });
    }

    @Test
    void absentWithoutRuntimeOnClasspath() {
        runner.withClassLoader(new FilteredClassLoader(IreeRuntime.class))
                .run(context -> assertThat(context).doesNotHaveBean(IreeAutoConfiguration.class));
    }

    @Test
    void runtimeBacksOffWhenUserDefinesTheBean() {
        runner.withUserConfiguration(OwnRuntime.class).run(context -> {
            assertThat(context).hasSingleBean(IreeRuntime.class).hasBean("myRuntime");
            assertThat(context).hasSingleBean(InvocationService.class);
        });
    }

    @Test
    void programsBackOffWhenUserDefinesTheBean() {
        runner.withUserConfiguration(OwnPrograms.class)
                .withPropertyValues("iree.modules.missing.location=/does/not/exist.vmfb")
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .hasSingleBean(Programs.class)
                        .hasBean("myPrograms"));
    }

    @Test
    void invocationServiceBacksOffWhenUserDefinesTheBean() {
        runner.withUserConfiguration(OwnService.class)
                .run(context -> assertThat(context)
                        .hasSingleBean(InvocationService.class)
                        .hasBean("myService"));
    }

    @Test
    void runtimeCustomizersApplyInOrder() {
        runner.withUserConfiguration(Customizers.class).run(context -> {
            assertThat(context.getBean(Customizers.class).called).containsExactly("first", "second");
            IreeRuntime runtime = context.getBean(IreeRuntime.class);
            try (Tensor _ = runtime.upload(Tensor.of(new float[] {1}))) {
                assertThat(runtime.monitor().leaks().open())
                        .as("leaks are traced")
                        .hasSize(1);
            }
        });
    }

    @Test
    void runtimeAndProgramsCloseWithTheContext() {
        AtomicReference<LoadedProgram> adding = new AtomicReference<>();
        AtomicReference<IreeRuntime> runtime = new AtomicReference<>();
        withAdder().run(context -> {
            adding.set(context.getBean(Programs.class).find("adding").orElseThrow());
            runtime.set(context.getBean(IreeRuntime.class));
        });
        assertThat(adding.get().program().isClosed()).isTrue();
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> runtime.get().load(adder))
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.FAILED_PRECONDITION));
    }

    @Test
    void functionsAreCalledByTheNameOfTheirModuleInTheProperties() {
        withAdder().run(context -> {
            InvocationService invocations = context.getBean(InvocationService.class);
            try (Results results = invocations.invoke("adding.add", 40, 2)) {
                assertThat(results.intValue(0)).isEqualTo(42);
            }
            try (Results results = invocations.invokeAsync("adding.add", 20, 3).join()) {
                assertThat(results.intValue(0)).isEqualTo(23);
            }
        });
    }

    @Test
    void failuresOfAsynchronousCallsCompleteTheFuture() {
        withAdder().run(context -> {
            InvocationService invocations = context.getBean(InvocationService.class);
            assertThatExceptionOfType(CompletionException.class)
                    .isThrownBy(() -> invocations.invokeAsync("adding.refuse").join())
                    .withMessageContaining("not today");
            assertThatExceptionOfType(CompletionException.class)
                    .isThrownBy(
                            () -> invocations.invokeAsync("unknown.function").join())
                    .withMessageContaining("unknown.function");
        });
    }

    @Test
    void failuresForUnknownNamesListTheKnownNames() {
        withAdder().run(context -> {
            InvocationService invocations = context.getBean(InvocationService.class);
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> invocations.invoke("subtracting.add", 1, 2))
                    .withMessageContaining("adding")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.NOT_FOUND));
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> invocations.invoke("adding.subtract", 1, 2))
                    .withMessageContaining("subtract")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.NOT_FOUND));
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> invocations.invoke("add", 1, 2))
                    .withMessageContaining("'program.function'");
        });
    }

    @Test
    void moduleNamesMayContainDots() {
        runner.withPropertyValues("iree.modules[math.v2].location=" + adder).run(context -> {
            try (Results results = context.getBean(InvocationService.class).invoke("math.v2.add", 1, 2)) {
                assertThat(results.intValue(0)).isEqualTo(3);
            }
        });
    }

    @Test
    void modulesAreFoundOnTheClassPathInAJar() throws IOException {
        Path jar = directory.resolve("models.jar");
        try (OutputStream out = Files.newOutputStream(jar);
                JarOutputStream entries = new JarOutputStream(out)) {
            entries.putNextEntry(new JarEntry("models/adder.vmfb"));
            Files.copy(adder, entries);
            entries.closeEntry();
        }
        try (URLClassLoader loader =
                new URLClassLoader(new URL[] {jar.toUri().toURL()}, getClass().getClassLoader())) {
            runner.withClassLoader(loader)
                    .withPropertyValues("iree.modules.adding.location=classpath:models/adder.vmfb")
                    .run(context -> {
                        try (Results results =
                                context.getBean(InvocationService.class).invoke("adding.add", 2, 2)) {
                            assertThat(results.intValue(0)).isEqualTo(4);
                        }
                    });
        }
        assertThat(directory
                        .toFile()
                        .getParentFile()
                        .listFiles((_, name) -> name.startsWith("iree4j-") && name.endsWith(".bin")))
                .as("copies left behind")
                .isEmpty();
    }

    @Test
    void archivesOfTheDefaultScopeServeProgramsWithoutAScope() throws IOException {
        Path empty = directory.resolve("empty.irpa");
        Path weights = directory.resolve("weights.irpa");
        new IrpaWriter().stored("other", 1).write(empty);
        new IrpaWriter().stored("weight", 1, 2, 3, 4).write(weights);
        runner.withPropertyValues(
                        "iree.modules.unscoped.location=" + TestModules.unscoped(directory),
                        "iree.modules.unscoped.parameters.default=%s,%s".formatted(empty, weights))
                .run(context -> {
                    assertThat(context.getBean(Programs.class)
                                    .find("unscoped")
                                    .orElseThrow()
                                    .source()
                                    .parameters())
                            .containsEntry("default", List.of(empty.toString(), weights.toString()));
                    try (Results results =
                            context.getBean(InvocationService.class).invoke("unscoped.size")) {
                        assertThat(results.longValue(0)).isEqualTo(16);
                    }
                });
    }

    @Test
    void loadingIsAStartupStep() {
        BufferingApplicationStartup startup = new BufferingApplicationStartup(10_000);
        runner.withInitializer(context -> context.setApplicationStartup(startup))
                .withPropertyValues("iree.modules.adding.location=" + adder)
                .run(context -> assertThat(startup.getBufferedTimeline().getEvents())
                        .map(StartupTimeline.TimelineEvent::getStartupStep)
                        .filteredOn(step -> step.getName().equals("iree.modules.load"))
                        .singleElement()
                        .satisfies(step -> assertThat(step.getTags())
                                .extracting(StartupStep.Tag::getValue)
                                .containsExactly("adding", "1")));
    }

    @Test
    void logLinesHaveKeyValues() {
        Logger logger = (Logger) LoggerFactory.getLogger(ProgramStatusLog.class);
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.start();
        logger.addAppender(lines);
        try {
            runner.withPropertyValues("iree.modules.adding.location=" + adder)
                    .run(context -> assertThat(lines.list)
                            .anySatisfy(line -> assertThat(line.getKeyValuePairs())
                                    .extracting(pair -> pair.key + " " + pair.value)
                                    .containsExactly("iree.module adding:1", "iree.state READY")));
        } finally {
            logger.detachAppender(lines);
        }
    }

    @Test
    void parameterProgressIsLogged() throws IOException {
        Path weights = directory.resolve("weights.irpa");
        new IrpaWriter().stored("weight", 1, 2, 3, 4).write(weights);
        runner.withPropertyValues(
                        "iree.modules.weighted.location=" + TestModules.weighted(directory),
                        "iree.modules.weighted.parameters.model=" + weights)
                .run(context -> {
                    List<IreeEvents.Event> events =
                            context.getBean(IreeEvents.class).since(0, 100);
                    assertThat(events)
                            .extracting(IreeEvents.Event::type)
                            .startsWith("program.loading", "program.parameters")
                            .endsWith("program.ready");
                    assertThat(events)
                            .filteredOn(event -> event.type().equals("program.parameters"))
                            .extracting(IreeEvents.Event::message)
                            .containsExactly(
                                    "opened '%s' of %d bytes, parameters of scope 'model'"
                                            .formatted(weights, Files.size(weights)),
                                    "parameters of scope 'model': 16 bytes loaded");
                    assertThat(context.getBean(Programs.class)
                                    .versions("weighted")
                                    .getFirst()
                                    .parameters())
                            .as("once it is there")
                            .isNull();
                });
    }

    @Test
    void unloadableModuleFailsStartup() {
        runner.withPropertyValues("iree.modules.adding.location=" + directory.resolve("other.vmfb"))
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining(directory.resolve("other.vmfb").toString()));
    }

    @Test
    void failedReplacementKeepsTheOldProgram() {
        withAdder().run(context -> {
            Programs programs = context.getBean(Programs.class);
            assertThatExceptionOfType(ProgramLoadException.class)
                    .isThrownBy(() -> programs.load(
                            ProgramSource.of("adding", directory.resolve("none").toString())));
            try (Results results = context.getBean(InvocationService.class).invoke("adding.add", 3, 4)) {
                assertThat(results.intValue(0)).isEqualTo(7);
            }
            assertThat(programs.unload("adding")).isTrue();
            assertThat(programs.unload("adding")).isFalse();
        });
    }

    @Test
    void aClosedContextLeavesNoThreadOfTheWatchdog() throws InterruptedException {
        Set<Thread> before = watchdogs();
        Set<Thread> own = new HashSet<>();
        runner.run(_ -> own.addAll(watchdogs()));
        own.removeAll(before);
        assertThat(own).isNotEmpty();
        for (Thread each : own) {
            assertThat(each.join(Duration.ofSeconds(20))).as("%s ends", each).isTrue();
        }
    }

    private static Set<Thread> watchdogs() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(each -> each.getName().startsWith("iree-watchdog-"))
                .collect(Collectors.toSet());
    }

    private ApplicationContextRunner withAdder() {
        return runner.withPropertyValues("iree.modules.adding.location=" + adder);
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnRuntime {
        @Bean
        IreeRuntime myRuntime() {
            return IreeRuntime.create();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnPrograms {
        @Bean
        Programs myPrograms(IreeRuntime runtime) {
            return new Programs(runtime, new DefaultResourceLoader());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnService {
        @Bean
        InvocationService myService(Programs programs) {
            return new InvocationService(programs);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Customizers {
        final List<String> called = new ArrayList<>();

        @Bean
        @Order(2)
        IreeRuntimeCustomizer second() {
            return builder -> {
                called.add("second");
                builder.traceLeaks(true);
            };
        }

        @Bean
        @Order(1)
        IreeRuntimeCustomizer first() {
            return builder -> {
                called.add("first");
                builder.traceLeaks(false);
            };
        }
    }
}

package io.github.iree4j.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.Results;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.spring.ProgramSource.WarmUp;
import io.github.iree4j.spring.Programs.LocatedFunction;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.io.DefaultResourceLoader;

/** Versions, contexts, placement, checks and states of programs. */
class ProgramsTests {

    @TempDir
    Path directory;

    private final List<ProgramStatus> heard = new ArrayList<>();
    private final IreeRuntime runtime = IreeRuntime.builder()
            .device("one", "local", DeviceOptions.DEFAULTS)
            .device("two", "local", DeviceOptions.DEFAULTS)
            .build();
    private final Programs programs = new Programs(runtime, new DefaultResourceLoader(), heard::add);
    private String counter;

    @BeforeEach
    void assemble() throws IOException {
        counter = TestModules.counter(directory).toUri().toString();
    }

    @AfterEach
    void close() {
        programs.close();
        assertThat(runtime.programs()).isEmpty();
        runtime.close();
    }

    @Test
    void loadsModuleWithMatchingChecksum() throws Exception {
        programs.load(
                ProgramSource.builder("counter", counter).sha256(checksum()).build());
        assertThat(programs.find("counter")).isPresent();
        assertThat(heard).extracting(ProgramStatus::step).anyMatch(step -> step.startsWith("checked "));
    }

    @Test
    void rejectsModuleWithMismatchedChecksum() throws Exception {
        String wrong = "0".repeat(64);
        ProgramSource source =
                ProgramSource.builder("counter", counter).sha256(wrong).build();
        assertThatExceptionOfType(ProgramLoadException.class)
                .isThrownBy(() -> programs.load(source))
                .withMessageContaining(wrong)
                .withMessageContaining(checksum())
                .satisfies(e -> assertThat(((IreeException) e.getCause()).detail(ChecksumMismatch.class))
                        .contains(new ChecksumMismatch(wrong, checksum())));
        assertThat(programs.find("counter")).isEmpty();
        assertThat(programs.statuses()).isEmpty();
    }

    @Test
    void callLoadsALazyProgram() {
        programs.define(ProgramSource.of("counter", counter));
        assertThat(programs.find("counter")).isEmpty();
        assertThat(next("counter")).isEqualTo(1);
        assertThat(heard)
                .extracting(ProgramStatus::state)
                .containsOnlyOnce(ProgramState.READY)
                .startsWith(ProgramState.LOADING);
    }

    @Test
    void failedProgramFailsCallsUntilItIsLoaded() throws Exception {
        Path late = directory.resolve("late.vmfb");
        programs.define(ProgramSource.of("late", late.toUri().toString()));
        for (int i = 0; i < 2; i++) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> programs.function("late.next"))
                    .withMessageContaining("late.vmfb");
        }
        assertThat(programs.statuses()).extracting(ProgramStatus::state).containsExactly(ProgramState.FAILED);
        Files.copy(directory.resolve("counter.vmfb"), late);
        programs.load("late", null);
        assertThat(next("late")).isEqualTo(1);
    }

    @Test
    void callDoesNotLoadAnUnloadedProgram() {
        programs.load(ProgramSource.of("counter", counter));
        assertThat(programs.unload("counter", null)).isTrue();
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> programs.function("counter.next"))
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.NOT_FOUND))
                .withMessageContaining("was unloaded");
        programs.load("counter", null);
        assertThat(next("counter")).isEqualTo(1);
    }

    /** Found before, or not to be found now. */
    @Test
    void everyUseOfAnUnloadedProgramIsAnsweredAlike() {
        programs.load(ProgramSource.of("counter", counter));
        InvocationService invocations = new InvocationService(programs);
        LocatedFunction found = programs.locate("counter.next");
        programs.unload("counter", null);
        for (ThrowingCallable use : List.<ThrowingCallable>of(
                () -> programs.locate("counter.next"),
                () -> invocations.request(found).invoke(),
                () -> invocations.request(found).invokeAsync().get(),
                () -> found.program().program().receive(ElementType.I32, Shape.SCALAR, _ -> {}))) {
            assertThatThrownBy(use).satisfies(thrown -> {
                IreeException e = (IreeException) (thrown instanceof ExecutionException ? thrown.getCause() : thrown);
                assertThat(e).hasMessage("program 'counter' was unloaded; load it again");
                assertThat(e.code()).isEqualTo(StatusCode.NOT_FOUND);
            });
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void callsOfAnUnloadedOrReplacedProgramAreCancelledAtTheLimit(boolean replaced) throws Exception {
        List<Runnable> later = new ArrayList<>();
        RetiredPrograms retired = new RetiredPrograms(delay -> {
            assertThat(delay).isEqualTo(Duration.ofSeconds(20));
            return later::add;
        });
        retired.limit(Duration.ofSeconds(20));
        try (Programs limited =
                new Programs(runtime, new DefaultResourceLoader(), _ -> {}, _ -> {}, Integrity.NONE, retired)) {
            ProgramSource spinning = ProgramSource.of(
                    "spinning", TestModules.spinner(directory).toUri().toString());
            LoadedProgram before = limited.load(spinning);
            CompletableFuture<Results> call = new InvocationService(limited).invokeAsync("spinning.spin");
            if (replaced) {
                limited.load(spinning);
            } else {
                limited.unload("spinning", null);
            }
            assertThat(limited.nameOf(before.program())).isEqualTo("spinning");
            assertThat(call).isNotDone();
            assertThat(later).hasSize(1);
            later.getFirst().run();
            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(call::get)
                    .havingCause()
                    .withMessageMatching("call [0-9]+ of 'spinning.spin' was cancelled by an operator");
            while (before.activeCalls() > 0) {
                Poll.pause(); // the class's timeout fails a staying call
            }
        }
    }

    @Test
    void callsGoToTheLatestLoadedVersion() {
        programs.load(ProgramSource.builder("counter", counter).version("9").build());
        programs.load(ProgramSource.builder("counter", counter).version("10").build());
        programs.define(ProgramSource.builder("counter", counter).version("11").build());
        assertThat(version("counter", null)).isEqualTo("10");
        assertThat(version("counter", "9")).isEqualTo("9");
        programs.unload("counter", "10");
        assertThat(version("counter", null)).isEqualTo("9");
        assertThat(programs.versions("counter"))
                .extracting(status -> status.source().version())
                .containsExactly("11", "10", "9");
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> programs.locate("counter.next", "12", null))
                .withMessageContaining("no version '12'");
    }

    @Test
    void limitsOfCallsHoldForEveryLoadedVersion() {
        for (String version : List.of("9", "10")) {
            programs.load(
                    ProgramSource.builder("counter", counter).version(version).build());
        }
        programs.setCallTimeouts(Duration.ofSeconds(7), Map.of());
        for (String version : List.of("9", "10")) {
            assertThat(programs.find("counter", version).orElseThrow().program().timeout())
                    .as("of version %s", version)
                    .contains(Duration.ofSeconds(7));
        }
    }

    @Test
    void contextsHaveSeparateState() {
        LoadedProgram loaded = programs.load(
                ProgramSource.builder("counter", counter).contexts(3).build());
        assertThat(loaded.instances()).hasSize(3);
        Set<Program> seen = new HashSet<>();
        for (int i = 0; i < 3; i++) {
            seen.add(programs.function("counter.next").program());
            assertThat(next("counter")).isLessThanOrEqualTo(2);
        }
        assertThat(seen.size()).isGreaterThan(1);
    }

    @Test
    void programIsPlacedOnEachDeviceAndCallsGoToTheRequestedDevice() {
        LoadedProgram loaded = programs.load(ProgramSource.builder("counter", counter)
                .devices(List.of("one", "two"))
                .placement(Placement.LEAST_LOADED)
                .contexts(2)
                .build());
        assertThat(loaded.instances())
                .extracting(instance ->
                        runtime.monitor().devices().nameOf(instance.devices().getFirst()))
                .containsExactly("one", "one", "two", "two");
        for (int i = 0; i < 4; i++) {
            assertThat(programs.locate("counter.next", null, "two")
                            .function()
                            .program()
                            .devices())
                    .containsExactly(runtime.device("two"));
        }
    }

    @Test
    void callGoesToTheLeastLoadedDevice() {
        programs.load(ProgramSource.builder("counter", counter)
                .devices(List.of("one", "two"))
                .placement(Placement.LEAST_LOADED)
                .contexts(2)
                .build());
        InvocationService invocations = new InvocationService(programs);
        try (Timeline timeline = runtime.createTimeline();
                Fence later = timeline.at(1)) {
            CompletableFuture<Results> busy = invocations
                    .request("counter.next")
                    .device("one")
                    .after(later)
                    .invokeAsync();
            assertThat(programs.activeCalls()).isEqualTo(1);
            for (int i = 0; i < 8; i++) {
                assertThat(programs.function("counter.next").program().devices())
                        .containsExactly(runtime.device("two"));
            }
            timeline.semaphore().signal(1);
            busy.join().close();
        }
    }

    @Test
    void callGoesToTheIdleContext() {
        LoadedProgram loaded = programs.load(ProgramSource.builder("counter", counter)
                .devices(List.of("one"))
                .contexts(2)
                .build());
        InvocationService invocations = new InvocationService(programs);
        try (Timeline timeline = runtime.createTimeline();
                Fence later = timeline.at(1)) {
            CompletableFuture<Results> busy =
                    invocations.request("counter.next").after(later).invokeAsync();
            Program free = loaded.instances().stream()
                    .filter(instance -> instance.monitor().activeCalls() == 0)
                    .findFirst()
                    .orElseThrow();
            for (int i = 0; i < 8; i++) {
                assertThat(programs.function("counter.next").program()).isSameAs(free);
            }
            timeline.semaphore().signal(1);
            busy.join().close();
        }
    }

    @Test
    void failureForAWrongDeviceNamesTheDevicesOfTheProgram() {
        programs.load(ProgramSource.builder("counter", counter)
                .devices(List.of("one"))
                .build());
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> programs.locate("counter.next", null, "two"))
                .withMessageContaining("does not run on device 'two' but on [one]");
    }

    @Test
    void warmUpsAreMadeOnEachContextBeforeTheProgramIsReady() {
        programs.load(ProgramSource.builder("counter", counter)
                .contexts(2)
                .warmUps(List.of(new WarmUp("next", List.of(), 3)))
                .build());
        assertThat(next("counter")).isEqualTo(4);
        assertThat(heard)
                .extracting(ProgramStatus::state)
                .filteredOn(state -> state == ProgramState.WARMING_UP)
                .hasSize(6);
        assertThat(heard).extracting(ProgramStatus::progress).isSorted();
        assertThat(programs.warm("counter", null)).isEqualTo(6);
        assertThat(next("counter")).isBetween(7, 8);
    }

    @Test
    void failedWarmUpLeavesNothingOpen() {
        ProgramSource source = ProgramSource.builder("counter", counter)
                .contexts(2)
                .warmUps(List.of(new WarmUp("next", List.of("7"), 1)))
                .build();
        assertThatExceptionOfType(ProgramLoadException.class)
                .isThrownBy(() -> programs.load(source))
                .withMessageContaining("takes 0 arguments; its warm-up has 1 inputs");
        assertThat(runtime.programs()).isEmpty();
    }

    @Test
    void programStaysWhenItsSuccessorCannotBeLoaded() {
        programs.load(ProgramSource.of("counter", counter));
        assertThat(next("counter")).isEqualTo(1);
        assertThatExceptionOfType(ProgramLoadException.class)
                .isThrownBy(() -> programs.load(ProgramSource.of("counter", "file:/no/such.vmfb")));
        assertThat(next("counter")).isEqualTo(2);
        assertThat(programs.statuses()).singleElement().satisfies(status -> {
            assertThat(status.state()).isEqualTo(ProgramState.READY);
            assertThat(status.source().location()).isEqualTo(counter);
            assertThat(status.failure()).isNotNull();
        });
    }

    @Test
    void rejectsCallsWhileTheApplicationStops() {
        programs.load(ProgramSource.of("counter", counter));
        programs.refuseCalls();
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> programs.function("counter.next"))
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.UNAVAILABLE));
        programs.acceptCalls();
        assertThat(next("counter")).isEqualTo(1);
    }

    @Test
    void aRefusedProgramIsClosedAndLeavesNoTrace() {
        programs.load(ProgramSource.of("counter", counter));
        programs.define(ProgramSource.of("lazy", counter));
        programs.addCheck(loaded -> {
            if (loaded.source().location().equals("memory")) {
                throw new IllegalArgumentException("misfit");
            }
        });
        List<ProgramStatus> before = programs.statuses();
        for (ProgramSource source : List.of(
                ProgramSource.of("fresh", "memory"),
                ProgramSource.builder("counter", "memory").version("9").build(),
                ProgramSource.of("lazy", "memory"),
                ProgramSource.of("counter", "memory"))) {
            Program program = runtime.load(directory.resolve("counter.vmfb"));
            assertThatExceptionOfType(ProgramLoadException.class)
                    .isThrownBy(() -> programs.register(source, program))
                    .havingCause()
                    .withMessage("misfit");
            assertThat(program.isClosed()).isTrue();
            assertThat(programs.statuses()).isEqualTo(before);
        }
        assertThat(next("counter")).isEqualTo(1);
    }

    @Test
    void aCheckAddedWhileOthersCheckAProgramSeesTheProgram() {
        List<String> seen = new ArrayList<>();
        programs.addCheck(loading -> {
            if (seen.isEmpty()) {
                programs.addCheck(loaded -> seen.add(loaded.source().name()));
            }
        });
        programs.load(ProgramSource.of("counter", counter));
        assertThat(seen).containsExactly("counter");
        programs.register(ProgramSource.of("other", "memory"), runtime.load(directory.resolve("counter.vmfb")));
        assertThat(seen).containsExactly("counter", "other");
    }

    @Test
    void aFailingCheckIsNotAdded() {
        programs.load(ProgramSource.of("counter", counter));
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> programs.addCheck(loaded -> {
                    throw new IllegalStateException("misfit");
                }));
        programs.load("counter", null);
    }

    private String version(String name, String version) {
        return programs.locate(name + ".next", version, null).program().source().version();
    }

    private String checksum() throws Exception {
        byte[] bytes = Files.readAllBytes(directory.resolve("counter.vmfb"));
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    }

    private int next(String program) {
        try (Results results = programs.function(program + ".next").invoke()) {
            return results.intValue(0);
        }
    }
}

package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.modules.hal.HalTypes;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.VmTypes;
import io.github.iree4j.vm.bytecode.BytecodeModule;
import io.github.iree4j.vm.bytecode.ModuleLimits;
import java.time.Duration;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Finds the programs that signal their caller's fence too early, and shows that callers do not notice. */
class EarlySignalTest {
    private static final VmTypes TYPES = HalTypes.register(VmTypes.standard());

    @Test
    void exactlyTheFixturesOfTheFaultyReleaseAreFound() {
        TreeSet<String> found = new TreeSet<>();
        for (FixtureManifest.Module each : FixtureManifest.read().modules()) {
            try (BytecodeModule module =
                    BytecodeModule.open(Fixtures.file(each.name()), TYPES, ModuleLimits.DEFAULTS)) {
                if (EarlySignal.isIn(List.of(module))) {
                    found.add(each.name());
                }
            }
        }
        assertThat(found)
                .containsExactly(
                        "3.11.0/cpu-async/host_for.vmfb",
                        "3.11.0/cpu-async/while_tensor.vmfb",
                        "3.11.0/vmvx-async/host_for.vmfb");
    }

    @ParameterizedTest
    @ValueSource(strings = {"3.11.0/cpu-async", "3.11.0/vmvx-async", "3.13.0/cpu-async"})
    void theFenceIsSignalledBehindTheWork(String variant) throws Exception {
        try (IreeRuntime runtime = IreeRuntime.create();
                TimelineSemaphore gate = TimelineSemaphore.create(0);
                TimelineSemaphore timeline = TimelineSemaphore.create(0);
                Fence open = Fence.at(gate, 1);
                Fence done = Fence.at(timeline, 1)) {
            // Closing the program waits for the end of the call and so for the release of the inputs.
            try (Program program = runtime.load(Fixtures.file(variant + "/host_for.vmfb"));
                    Results results = program.function("repeat")
                            .call(CallOptions.DEFAULTS.after(open).signal(done), 5, new float[] {1, 2, 3, 4})
                            .get()) { // with contents not ready yet
                assertThat(done.query()).isEqualTo(StatusCode.DEFERRED);
                gate.signal(1);
                done.await(Duration.ofMinutes(1));
                assertThat(results.tensor(0).toFloatArray()).containsExactly(6, 12, 18, 24);
            }
            assertThat(runtime.device().allocator().statistics().bytesLive()).isZero();
        }
    }

    @Test
    void failuresOfTheWorkFailTheFence() throws Exception {
        IreeException cause = IreeException.of(StatusCode.DATA_LOSS, "on purpose");
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = runtime.load(Fixtures.file("3.11.0/cpu-async/host_for.vmfb"));
                TimelineSemaphore gate = TimelineSemaphore.create(0);
                TimelineSemaphore timeline = TimelineSemaphore.create(0);
                Fence open = Fence.at(gate, 1);
                Fence done = Fence.at(timeline, 1)) {
            CompletableFuture<Results> call = program.function("repeat")
                    .call(CallOptions.DEFAULTS.after(open).signal(done), 5, new float[] {1, 2, 3, 4});
            try (Results _ = call.get()) {
                gate.fail(cause);
                assertThatExceptionOfType(IreeException.class)
                        .isThrownBy(() -> done.await(Duration.ofMinutes(1)))
                        .withMessageContaining("on purpose");
                assertThat(done.failure()).containsSame(cause);
            }
        }
    }

    @Test
    void emptyLoopsSignalAtOnceAndManyStepsAreNoTrouble() {
        try (IreeRuntime runtime = IreeRuntime.create()) {
            try (Program program = runtime.load(Fixtures.file("3.11.0/cpu-async/host_for.vmfb"))) {
                for (int times : new int[] {0, 1, 500}) {
                    try (Results results = program.function("repeat").invoke(times, new float[] {1, 2, 3, 4})) {
                        assertThat(results.tensor(0).toFloatArray()[0]).isEqualTo(1 + times);
                    }
                }
            }
            assertThat(runtime.device().allocator().statistics().bytesLive()).isZero();
        }
    }
}

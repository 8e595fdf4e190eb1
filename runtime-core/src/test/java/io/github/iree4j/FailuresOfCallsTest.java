package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.hal.local.HostDevice;
import io.github.iree4j.status.CallTimeoutException;
import io.github.iree4j.status.DeviceLost;
import io.github.iree4j.status.DeviceLostException;
import io.github.iree4j.status.InvalidInputException;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.status.TransientFailureException;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Callers catch the class of a failure, however the call is made. */
@Timeout(300)
class FailuresOfCallsTest {
    private static final float[] FOUR = {1, 2, 3, 4};

    /** How a call is made. */
    enum Way {
        INVOKE,
        AWAIT,
        GET
    }

    private static Program add(IreeRuntime runtime) {
        return runtime.load(ProgramOptions.builder()
                .module(Fixtures.file("3.11.0/cpu/add.vmfb"))
                .build());
    }

    private static Results call(Program program, Way way, Object... inputs) throws Throwable {
        ProgramFunction add = program.function("add");
        return switch (way) {
            case INVOKE -> add.invoke(inputs);
            case AWAIT -> add.call(CallOptions.DEFAULTS, inputs).await();
            case GET -> {
                try {
                    yield add.call(CallOptions.DEFAULTS, inputs).get();
                } catch (ExecutionException e) {
                    throw e.getCause();
                }
            }
        };
    }

    @ParameterizedTest
    @EnumSource
    void inputsOfAnotherShapeAreInvalidInput(Way way) {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = add(runtime)) {
            assertThatExceptionOfType(InvalidInputException.class)
                    .isThrownBy(() -> call(program, way, FOUR, new float[] {1, 2, 3}));
        }
    }

    @ParameterizedTest
    @EnumSource
    void aCallLargerThanTheLimitIsInvalidInput(Way way) {
        try (IreeRuntime runtime = IreeRuntime.builder().memoryLimit(160).build();
                Program program = add(runtime)) {
            assertThatExceptionOfType(InvalidInputException.class).isThrownBy(() -> call(program, way, FOUR, FOUR));
        }
    }

    @ParameterizedTest
    @EnumSource
    void memoryHeldByOthersIsATransientFailure(Way way) throws Throwable {
        try (IreeRuntime runtime = IreeRuntime.builder().memoryLimit(3 * 64).build();
                Program program = add(runtime)) {
            try (Results open = program.function("add").invoke(FOUR, FOUR)) {
                assertThat(open.size()).isEqualTo(1);
                assertThatExceptionOfType(TransientFailureException.class)
                        .isThrownBy(() -> call(program, way, FOUR, FOUR));
            }
            try (Results later = call(program, way, FOUR, FOUR)) {
                assertThat(later.tensor(0).toFloatArray()).containsExactly(2, 4, 6, 8);
            }
        }
    }

    @Test
    void aCallWithoutTimeIsATimeout() {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = add(runtime)) {
            CallOptions options = CallOptions.DEFAULTS.timeout(Duration.ZERO);
            assertThatExceptionOfType(CallTimeoutException.class)
                    .isThrownBy(() ->
                            program.function("add").call(options, FOUR, FOUR).await());
        }
    }

    @ParameterizedTest
    @EnumSource
    void callsOfALostDeviceFailWithItsLoss(Way way) {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = add(runtime)) {
            HostDevice device = (HostDevice) runtime.device();
            device.lose(IreeException.of(StatusCode.UNAVAILABLE, "fell off the bus"));
            assertThat(device.failure().orElseThrow()).isInstanceOf(DeviceLostException.class);
            assertThatExceptionOfType(DeviceLostException.class)
                    .isThrownBy(() -> call(program, way, FOUR, FOUR))
                    .withMessageContaining("fell off the bus")
                    .satisfies(e -> assertThat(e.detail(DeviceLost.class))
                            .contains(new DeviceLost(device.info().id())));
        }
    }

    @Test
    void onlyTheLossOfADeviceIsTold() {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = add(runtime)) {
            runtime.device().close();
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> program.function("add").invoke(FOUR, FOUR))
                    .isExactlyInstanceOf(IreeException.class)
                    .satisfies(e -> assertThat(e.code())
                            .as("the caller has not closed the device: the runtime has, say")
                            .isEqualTo(StatusCode.ABORTED));
        }
    }
}

package io.github.iree4j.status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The classes of failures. */
class ReactionsTest {
    private static final DeviceLost LOST = new DeviceLost("gpu");
    private static final NeverFits TOO_LARGE = new NeverFits(16);

    private static Class<? extends IreeException> reaction(StatusCode code, @Nullable FailureDetail detail) {
        return IreeException.of(code, "no", null, detail).getClass();
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "OK")
    void everyCodeHasAClass(StatusCode code) {
        Class<? extends IreeException> expected = switch (code) {
            case UNAVAILABLE, RESOURCE_EXHAUSTED -> TransientFailureException.class;
            case INVALID_ARGUMENT, OUT_OF_RANGE -> InvalidInputException.class;
            case DEADLINE_EXCEEDED -> CallTimeoutException.class;
            default -> IreeException.class;
        };
        IreeException failure = IreeException.of(code, "no");
        assertThat(failure).isExactlyInstanceOf(expected);
        assertThat(failure.code()).isEqualTo(code);
        assertThat(reaction(code, new FileFault()))
                .as("other details say nothing")
                .isEqualTo(expected);
        assertThat(reaction(code, LOST)).isEqualTo(DeviceLostException.class);
        assertThat(reaction(code, TOO_LARGE))
                .as("only of a request for memory")
                .isEqualTo(code == StatusCode.RESOURCE_EXHAUSTED ? InvalidInputException.class : expected);
    }

    @Test
    void okIsNoFailure() {
        assertThatIllegalArgumentException().isThrownBy(() -> IreeException.of(StatusCode.OK, "fine"));
    }

    /** By waiting callers, functions around the failed function, and loads. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "OK")
    void aFailurePassedOnWithTheSameCodeKeepsItsClass(StatusCode code) {
        for (FailureDetail detail : new FailureDetail[] {LOST, TOO_LARGE, new KernelFault()}) {
            IreeException failure = IreeException.of(code, "no", null, detail);
            IreeException again = IreeException.of(code, "no", new CompletionException(failure), new FileFault());
            assertThat(failure.during("in @main")).hasSameClassAs(failure);
            assertThat(again).hasSameClassAs(failure);
            assertThat(again.during("in @main").during("in @outer")).hasSameClassAs(failure);
        }
    }

    @Test
    void aFailureWithAnotherCodeThanItsCauseHasTheClassOfItsOwnCode() {
        IreeException lost = IreeException.of(StatusCode.ABORTED, "lost", null, LOST);
        IreeException large = IreeException.of(StatusCode.RESOURCE_EXHAUSTED, "large", null, TOO_LARGE);
        assertThat(IreeException.of(StatusCode.DEADLINE_EXCEEDED, "late", lost))
                .isExactlyInstanceOf(CallTimeoutException.class);
        assertThat(IreeException.of(StatusCode.FAILED_PRECONDITION, "not loaded", large))
                .isExactlyInstanceOf(IreeException.class);
        IreeException between = IreeException.of(StatusCode.INTERNAL, "broken", large);
        assertThat(IreeException.of(StatusCode.RESOURCE_EXHAUSTED, "no heap left", between))
                .as("of another shortage")
                .isExactlyInstanceOf(TransientFailureException.class);
    }

    /** Details do not survive serialization, and the class does, also for failures made of the deserialized failure. */
    @Test
    void serializationKeepsTheClass() throws Exception {
        IreeException large = IreeException.of(StatusCode.RESOURCE_EXHAUSTED, "large", null, TOO_LARGE);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(large);
        }
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            IreeException read = (IreeException) in.readObject();
            assertThat(read).isExactlyInstanceOf(InvalidInputException.class).hasMessage("large");
            assertThat(read.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
            assertThat(read.detail(NeverFits.class)).isEmpty();
            assertThat(read.during("in @main")).isExactlyInstanceOf(InvalidInputException.class);
        }
    }

    @Test
    void theLossOfADeviceNamesTheDeviceWhateverTheCause() {
        IreeException cause = IreeException.of(StatusCode.UNAVAILABLE, "fell off the bus");
        DeviceLostException lost = DeviceLostException.by("gpu", cause);
        assertThat(lost).hasMessage("fell off the bus").hasCause(cause);
        assertThat(lost.code()).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(lost.detail(DeviceLost.class)).contains(LOST);
        assertThat(DeviceLostException.by("gpu", lost)).isSameAs(lost);
        assertThat(DeviceLostException.by("other", lost).detail(DeviceLost.class))
                .contains(new DeviceLost("other"));
    }
}

package io.github.iree4j.generation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.generation.sampling.Sampler;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Shape;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

class LogitsTest {
    private static final Sampler GREEDY = GenerationRequest.of(1, 0).sampler();
    private static final Step STEP = new Step(new Entry("prefill_bs2", true, 2), 3, 2);

    @Test
    void theLogitsOfARowAndATokenDecide() {
        Logits logits = new Logits();
        MemorySegment memory = logits.reshape(STEP, ElementType.F32, Shape.of(2, 3, 4));
        memory.setAtIndex(ValueLayout.JAVA_FLOAT_UNALIGNED, (3 + 1) * 4 + 2, 5f);
        memory.setAtIndex(ValueLayout.JAVA_FLOAT_UNALIGNED, (3 + 2) * 4 + 3, 5f);
        assertThat(logits.choose(1, 1, GREEDY)).isEqualTo(2);
        assertThat(logits.choose(1, 2, GREEDY)).isEqualTo(3);
        assertThat(logits.choose(0, 0, GREEDY)).isZero();
    }

    @Test
    void aPrefillMayReturnTheLogitsOfTheLastTokenOnly() {
        Logits logits = new Logits();
        logits.reshape(STEP, ElementType.F32, Shape.of(2, 1, 4))
                .setAtIndex(ValueLayout.JAVA_FLOAT_UNALIGNED, 4 + 3, 5f);
        assertThat(logits.choose(1, 2, GREEDY)).isEqualTo(3);
    }

    @Test
    void halvesAreNumbersToo() {
        Logits logits = new Logits();
        MemorySegment memory = logits.reshape(STEP, ElementType.F16, Shape.of(2, 1, 3));
        memory.setAtIndex(ValueLayout.JAVA_SHORT_UNALIGNED, 3, Float.floatToFloat16(-1.5f));
        memory.setAtIndex(ValueLayout.JAVA_SHORT_UNALIGNED, 4, Float.floatToFloat16(-0.5f));
        memory.setAtIndex(ValueLayout.JAVA_SHORT_UNALIGNED, 5, Float.floatToFloat16(Float.NEGATIVE_INFINITY));
        assertThat(logits.choose(1, 0, GREEDY)).isEqualTo(1);
        memory = logits.reshape(STEP, ElementType.BF16, Shape.of(2, 1, 3));
        memory.setAtIndex(ValueLayout.JAVA_SHORT_UNALIGNED, 3, (short) (Float.floatToIntBits(-1.5f) >>> 16));
        memory.setAtIndex(ValueLayout.JAVA_SHORT_UNALIGNED, 4, (short) (Float.floatToIntBits(-2.5f) >>> 16));
        memory.setAtIndex(ValueLayout.JAVA_SHORT_UNALIGNED, 5, (short) (Float.floatToIntBits(-3.5f) >>> 16));
        assertThat(logits.choose(1, 0, GREEDY)).isZero();
    }

    @Test
    void ofCandidatesInAnyOrderTheLowestTokenOfEqualsIsTaken() {
        Logits logits = new Logits();
        Step decode = new Step(new Entry("decode_bs2", false, 2), 1, 2);
        MemorySegment memory = logits.reshape(decode, ElementType.F32, Shape.of(2, 1, 3));
        for (int i = 3; i < 6; i++) {
            memory.setAtIndex(ValueLayout.JAVA_FLOAT_UNALIGNED, i, i == 4 ? 1 : 7);
        }
        logits.candidates(0, 0, 0, 90_000, 3, 17);
        assertThat(logits.choose(1, 0, GREEDY)).isEqualTo(17);
        for (long wrong : new long[] {-1, 1L << 31, Long.MIN_VALUE}) {
            logits.candidates(0, 0, 0, 5, wrong, 17);
            assertThatThrownBy(() -> logits.choose(1, 0, GREEDY))
                    .hasMessageContaining("the model's candidate " + wrong + " is no token");
        }
    }

    @Test
    void theCandidateWithoutANumberIsNamed() {
        Logits logits = new Logits();
        Step decode = new Step(new Entry("decode_bs2", false, 2), 1, 2);
        MemorySegment memory = logits.reshape(decode, ElementType.F32, Shape.of(2, 1, 3));
        memory.setAtIndex(ValueLayout.JAVA_FLOAT_UNALIGNED, 4, Float.NaN);
        assertThatThrownBy(() -> logits.choose(1, 0, GREEDY)).hasMessageContaining("the logit of token 1 is NaN");
        logits.candidates(0, 0, 0, 5, 90_000, 17);
        assertThatThrownBy(() -> logits.choose(1, 0, GREEDY)).hasMessageContaining("the logit of token 90000 is NaN");
    }

    @Test
    void logitsOfAnotherShapeOrTypeAreRejected() {
        Logits logits = new Logits();
        for (Shape each : new Shape[] {
            Shape.of(2, 3), Shape.of(1, 3, 4), Shape.of(2, 2, 4), Shape.of(2, 3, 0), Shape.of(2, 3, 1 << 30)
        }) {
            assertThatThrownBy(() -> logits.reshape(STEP, ElementType.F32, each))
                    .hasMessageContaining("'prefill_bs2' returned")
                    .hasMessageContaining("instead of logits");
        }
        assertThatThrownBy(() -> logits.reshape(STEP, ElementType.I32, Shape.of(2, 3, 4)))
                .hasMessageContaining("2x3x4xi32 instead of logits");
    }
}

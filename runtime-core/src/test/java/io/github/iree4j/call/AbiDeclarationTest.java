package io.github.iree4j.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.tensor.TensorType;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullAndEmptySource;
import org.junit.jupiter.params.provider.ValueSource;

class AbiDeclarationTest {
    @Test
    void readsTensorsOfCompiledModules() {
        AbiDeclaration add = AbiDeclaration.parse(
                "sync func @add(%input0: tensor<4xf32>, %input1: tensor<?x2xi8>) -> (%output0: tensor<f64>)");
        assertThat(add.arguments()).extracting(AbiDeclaration.Value::name).containsExactly("input0", "input1");
        assertThat(add.arguments().get(1).tensor().shape()).containsExactly(-1, 2);
        assertThat(add.arguments().get(1).tensor().type()).isEqualTo(ElementType.I8);
        assertThat(add.arguments().get(1).tensor()).hasToString("tensor<?x2xi8>");
        assertThat(add.results().getFirst().tensor().shape()).isEmpty();
    }

    @Test
    void readsStorageAttributesAndOtherTypes() {
        AbiDeclaration declaration =
                AbiDeclaration.parse("async func @f(%a: !hal.buffer {iree.abi.output = 0 : index, n = \"a, (b\"}, "
                        + "%b: i32, tensor<4xf32, #enc<a, b>>, %c: tensor<complex<f32>>) -> tensor<?x?x4xi8>");
        assertThat(declaration.arguments())
                .extracting(AbiDeclaration.Value::type)
                .containsExactly("!hal.buffer", "i32", "tensor<4xf32, #enc<a, b>>", "tensor<complex<f32>>");
        assertThat(declaration.arguments().get(2).tensor()).hasToString("tensor<4xf32>");
        assertThat(declaration.arguments().get(3).tensor()).isNull();
        assertThat(declaration.results()).hasSize(1);
    }

    @Test
    void functionsWithoutArgumentsOrResults() {
        assertThat(AbiDeclaration.parse("sync func @f() -> ()").arguments()).isEmpty();
        assertThat(AbiDeclaration.parse("sync func @f()").results()).isEmpty();
    }

    @ParameterizedTest
    @NullAndEmptySource
    @ValueSource(strings = {"func add", "sync func @f(", "sync func @f(%a: tensor<4xf32>", "@f() => x", "@f)()("})
    void textOfNoDeclarationIsNone(String text) {
        assertThat(AbiDeclaration.parse(text)).isNull();
    }

    @Test
    void dimensionsBeyondMemoryAreNotChecked() {
        AbiDeclaration declaration =
                AbiDeclaration.parse("@f(tensor<9223372036854775807x2xf32>, tensor<-1xf32>, tensor<-7xi8>)");
        assertThat(declaration.arguments())
                .extracting(AbiDeclaration.Value::tensor)
                .first()
                .isNull();
    }

    @Test
    void anyTextIsReadOrRefused() {
        long seed = Effort.seed(20261120);
        Random random = new Random(seed);
        String alphabet = "@(){}<>[]\"%:,->x?4f32 tensor!hal.buffer";
        for (int i = 0; i < 20_000; i++) {
            StringBuilder text = new StringBuilder("sync func @f(");
            for (int n = random.nextInt(40); n > 0; n--) {
                text.append(alphabet.charAt(random.nextInt(alphabet.length())));
            }
            try {
                AbiDeclaration.parse(text.toString());
            } catch (RuntimeException e) {
                throw new AssertionError("seed %d: %s".formatted(seed, text), e);
            }
        }
    }

    @Test
    void integersAreTakenByWidthOpaqueAlways() {
        TensorType type = new TensorType(ElementType.I32, new long[] {-1, 2});
        assertThat(type.accepts(ElementType.UI32, Shape.of(5, 2))).isTrue();
        assertThat(type.accepts(ElementType.OPAQUE_32, Shape.of(5, 2))).isTrue();
        assertThat(type.accepts(ElementType.F32, Shape.of(5, 2))).isFalse();
        assertThat(type.accepts(ElementType.I64, Shape.of(5, 2))).isFalse();
        assertThat(type.accepts(ElementType.I32, Shape.of(5, 3))).isFalse();
        assertThat(type.accepts(ElementType.I32, Shape.of(5))).isFalse();
    }
}

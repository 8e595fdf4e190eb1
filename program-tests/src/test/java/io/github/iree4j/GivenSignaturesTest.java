package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.asm.VmAssembler;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Signatures for functions given by options, with and without known types. */
class GivenSignaturesTest {
    /** The code proves nothing. */
    private static final byte[] SILENT = VmAssembler.assemble("""
            vm.module @silent
            vm.export @same
            vm.func @same(%r0: !vm.ref<?>, %i0: i32) -> (!vm.ref<?>) {
            ^bb0:
              vm.return %r0
            }
            vm.export @declared
            vm.func @declared(%r0: !vm.ref<?>) -> () {
              vm.attr "iree.abi.declaration" = "sync func @declared(%a: tensor<?x4xi8>)"
            ^bb0:
              vm.return
            }
            """);

    private IreeRuntime runtime;

    @BeforeEach
    void open() {
        runtime = IreeRuntime.create();
    }

    @AfterEach
    void close() {
        runtime.close();
    }

    private Program load(String function, String signature) {
        ProgramOptions.Builder options = ProgramOptions.builder().signature(function, signature);
        return runtime.load(
                function.startsWith("classifier")
                        ? options.module(Fixtures.file("3.13.0/vmvx/onnx_classifier.vmfb"))
                                .build()
                        : options.module("silent.vmfb", SILENT).build());
    }

    @Test
    void namesAreAddedToRecoveredTypes() {
        try (Program program = load("classifier", "(%image, %offset) -> (%probabilities, %label)")) {
            ProgramFunction function = program.function("classifier");
            assertThat(function.declaration())
                    .isEqualTo(
                            "sync func @classifier(%image: tensor<?x8xf32>, %offset: tensor<?xi64>) -> (%probabilities: tensor<?x4xf32>, %label: tensor<?xi64>)");
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> function.invoke(new float[1][7], new long[1]))
                    .withMessageContaining("argument 0 'image' of function 'module.classifier'");
            assertThat(program.function("classifier$async")
                            .arguments()
                            .getFirst()
                            .name())
                    .isEqualTo("image");
        }
    }

    @Test
    void sizesAndKindsOfIntegersMayBeMorePrecise() {
        try (Program program =
                load("classifier", "(%image: tensor<2x?xf32>, tensor<?xui64>) -> (!vm.ref<?>, %label)")) {
            ProgramFunction function = program.function("classifier");
            assertThat(function.arguments())
                    .containsExactly(
                            ValueDeclaration.known("image", "tensor<2x8xf32>", ElementType.F32, List.of(2L, 8L)),
                            ValueDeclaration.known("input1", "tensor<?xui64>", ElementType.UI64, List.of(-1L)));
            assertThat(function.results())
                    .extracting(ValueDeclaration::type)
                    .containsExactly("tensor<?x4xf32>", "tensor<?xi64>");
        }
    }

    @Test
    void typesWithoutAProofAreTaken() {
        try (Program program = load("same", "func @same(%x: tensor<?x2xf32>, i32) -> tensor<?x2xf32>")) {
            ProgramFunction function = program.function("same");
            assertThat(function.arguments())
                    .containsExactly(
                            ValueDeclaration.known("x", "tensor<?x2xf32>", ElementType.F32, List.of(-1L, 2L)),
                            ValueDeclaration.known("input1", "i32", ElementType.I32, List.of()));
            try (Results results = function.invoke(new float[6], 1)) {
                assertThat(results.tensor(0).shape()).isEqualTo(Shape.of(3, 2));
            }
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "classifier | (tensor<?x9xf32>, tensor<?xi64>) -> (%p, %l) | argument 0 is given as tensor<?x9xf32>, and by the module it is tensor<?x8xf32>",
                "classifier | (tensor<8xf32>, tensor<?xi64>) -> (%p, %l)   | argument 0 is given as tensor<8xf32>, and by the module it is tensor<?x8xf32>",
                "classifier | (%a, tensor<?xi32>) -> (%p, %l)              | argument 1 is given as tensor<?xi32>, and by the module it is tensor<?xi64>",
                "classifier | (%a, %b) -> (tensor<?x4xf16>, %l)            | result 0 is given as tensor<?x4xf16>, and by the module it is tensor<?x4xf32>",
                "classifier | (%a, !hal.buffer) -> (%p, %l)                | argument 1 is given as !hal.buffer, and by the module it is tensor<?xi64>",
                "classifier | (%a, %b) -> (%p)                             | it has 1 results, and the function 2",
                "classifier | %a, %b                                       | '%a, %b' is not understood",
                "classifiers | (%a, %b) -> (%p, %l)                        | there is no such function; there are classifier, classifier$async",
                "same       | (%a, i64) -> (%p)                            | argument 1 is given as i64, and by the module it is i32",
                "same       | (i32, %b) -> (%p)                            | argument 0 is given as i32, and by the module it is !vm.ref<?>",
                "same       | (tensor<4xnone>, %b) -> (%p)                 | argument 0 is given as tensor<4xnone>, and by the module it is !vm.ref<?>",
                "declared   | (tensor<?x5xi8>)                             | argument 0 is given as tensor<?x5xi8>, and by the module it is tensor<?x4xi8>"
            })
    void contradictionsOfTheModuleAreRefused(String function, String signature, String message) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> load(function, signature))
                .withMessageContaining("the signature given for function '%s' cannot be used: ".formatted(function))
                .withMessageContaining(message)
                .satisfies(e -> {
                    assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT);
                    assertThat(e.detail(SignatureFault.class)).contains(new SignatureFault(function));
                });
    }
}

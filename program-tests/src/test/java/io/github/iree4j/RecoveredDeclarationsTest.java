package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.call.AbiDeclaration;
import io.github.iree4j.call.Signature;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.modules.hal.HalTypes;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.tensor.TensorType;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmFunction;
import io.github.iree4j.vm.VmModule;
import io.github.iree4j.vm.VmTypes;
import io.github.iree4j.vm.bytecode.BytecodeModule;
import io.github.iree4j.vm.bytecode.ModuleLimits;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Types recovered from code. */
class RecoveredDeclarationsTest {
    private static final VmTypes TYPES = HalTypes.register(VmTypes.standard());

    private int declared;
    private int recovered;
    private final List<String> open = new ArrayList<>();
    private final List<String> wrong = new ArrayList<>();

    @ParameterizedTest
    @ValueSource(strings = {"cpu", "vmvx"})
    void anImportedModelHasTypesNamesAndAText(String variant) {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = runtime.load(Fixtures.file("3.13.0/" + variant + "/onnx_classifier.vmfb"))) {
            ProgramFunction function = program.function("classifier");
            assertThat(function.arguments())
                    .containsExactly(
                            ValueDeclaration.known("input0", "tensor<?x8xf32>", ElementType.F32, List.of(-1L, 8L)),
                            ValueDeclaration.known("input1", "tensor<?xi64>", ElementType.I64, List.of(-1L)));
            assertThat(function.results())
                    .containsExactly(
                            ValueDeclaration.known("output0", "tensor<?x4xf32>", ElementType.F32, List.of(-1L, 4L)),
                            ValueDeclaration.known("output1", "tensor<?xi64>", ElementType.I64, List.of(-1L)));
            assertThat(function.declaration())
                    .isEqualTo(
                            "sync func @classifier(%input0: tensor<?x8xf32>, %input1: tensor<?xi64>) -> (%output0: tensor<?x4xf32>, %output1: tensor<?xi64>)");
            assertThat(program.function("classifier$async").declaration())
                    .isEqualTo(function.declaration().replace("sync func @classifier", "async func @classifier$async"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"cpu", "vmvx"})
    void nothingIsKnownOfAnArgumentUnusedByTheModel(String variant) {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = runtime.load(Fixtures.file("3.13.0/" + variant + "/torch_classifier.vmfb"))) {
            assertThat(program.function("main").declaration())
                    .isEqualTo(
                            "sync func @main(%input0: tensor<?x8xf32>, %input1: tensor<?xi64>, %input2: !vm.ref<?>) -> (%output0: tensor<?x4xf32>, %output1: tensor<?xi64>)");
        }
    }

    @Test
    void arraysBecomeTensorsAndMessagesNameTheArgument() {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = runtime.load(Fixtures.file("3.13.0/vmvx/onnx_classifier.vmfb"));
                Program other = program.newInstance()) {
            for (Program each : List.of(program, other)) {
                ProgramFunction function = each.function("classifier");
                try (Results results = function.invoke(new float[24], new int[] {7, 8, 9})) {
                    assertThat(results.tensor(0).shape()).isEqualTo(Shape.of(3, 4));
                    assertThat(results.tensor(1).toLongArray()).containsExactly(7, 8, 9);
                }
                assertThatExceptionOfType(IreeException.class)
                        .isThrownBy(() -> function.invoke(new float[1][8], new float[] {1}))
                        .withMessageContaining("argument 1 'input1' of function 'module.classifier'");
            }
        }
    }

    @Test
    void rulesOfVariantsAreCheckedAgainstRecoveredDeclarations() {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = runtime.load(withRules("[batch 8], [batch] -> [batch 4], [batch]"))) {
            ProgramFunction function = program.function("classifier");
            assertThat(function.variants()).isPresent();
            assertThat(function.arguments())
                    .extracting(ValueDeclaration::type)
                    .containsExactly("tensor<?x8xf32>", "tensor<?xi64>");
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> runtime.load(withRules("[batch 9], [batch] -> [batch 4], [batch]"))
                            .close())
                    .withMessageContaining(
                            "argument 0 of 'module.classifier' is tensor<?x8xf32>, and its rule [batch 9]");
        }
    }

    private static ProgramOptions withRules(String rules) {
        return ProgramOptions.builder()
                .module(Fixtures.file("3.13.0/vmvx/onnx_classifier.vmfb"))
                .variants(VariantOptions.of("classifier", ShapeRules.parse(rules)))
                .build();
    }

    @Test
    void checksOfAModuleNamedLikeTheRuntimesProveNothing() {
        try (BytecodeModule module =
                BytecodeModule.open(Fixtures.file("3.13.0/vmvx/onnx_classifier.vmfb"), TYPES, ModuleLimits.DEFAULTS)) {
            NativeModule hal = NativeModule.builder("hal", 7, Object::new).build();
            VmFunction function = Objects.requireNonNull(module.resolve("classifier", ""));
            assertThat(signature(function, List.of(hal, module)).declaration()).isNull();
            assertThat(signature(function, List.of(module)).declaration()).isNotNull();
        }
    }

    private static Signature signature(VmFunction function, List<VmModule> modules) {
        return Objects.requireNonNull(RecoveredDeclarations.signatures(modules).get(function));
    }

    @Test
    void recoveredDeclarationsOfFixturesMatchTheDeclaredTypes() {
        for (FixtureManifest.Module each : FixtureManifest.read().modules()) {
            try (BytecodeModule module =
                    BytecodeModule.open(Fixtures.file(each.name()), TYPES, ModuleLimits.DEFAULTS)) {
                BitSet all = new BitSet();
                module.exports().forEach(function -> all.set(function.ordinal()));
                RecoveredDeclarations code = new RecoveredDeclarations(module, all);
                for (VmFunction function : module.exports()) {
                    compare(each.name(), new Signature(function), code);
                }
            }
        }
        System.out.printf(
                "recovered %d of %d declared tensors, all but%n%s%n", recovered, declared, String.join("\n", open));
        assertThat(wrong).isEmpty();
        assertThat(recovered).isGreaterThan(declared * 97 / 100);
    }

    private void compare(String module, Signature signature, RecoveredDeclarations code) {
        if (signature.declaration() == null) {
            return;
        }
        AbiDeclaration found = code.declaration(signature);
        for (int i = 0; i < found.arguments().size(); i++) {
            compare(
                    module + " " + signature.text(),
                    signature.declared(i),
                    found.arguments().get(i));
        }
        for (int i = 0; i < found.results().size(); i++) {
            compare(
                    module + " " + signature.text(),
                    signature.declaredResult(i),
                    found.results().get(i));
        }
    }

    private void compare(String where, AbiDeclaration.Value said, AbiDeclaration.Value found) {
        TensorType type = said.tensor();
        TensorType proven = found.tensor();
        declared += type != null ? 1 : 0;
        if (type != null && proven == null) {
            open.add(where + ": " + found.name());
        } else if (type != null && agree(type, proven)) {
            recovered++;
        } else if (type != null || proven != null && !said.type().equals("!hal.buffer_view")) {
            wrong.add(where + ": " + found.name() + " is " + found.type());
        }
    }

    /** Whether they are the same, except for open declared dimensions: the compiler has found constants there. */
    private static boolean agree(TensorType said, TensorType proven) {
        boolean agree = said.type().equals(proven.type()) && said.shape().length == proven.shape().length;
        for (int i = 0; agree && i < said.shape().length; i++) {
            agree = said.shape()[i] < 0 || said.shape()[i] == proven.shape()[i];
        }
        return agree;
    }
}

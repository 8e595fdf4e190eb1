package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.call.AbiDeclaration;
import io.github.iree4j.call.Signature;
import io.github.iree4j.modules.hal.HalTypes;
import io.github.iree4j.tensor.TensorType;
import io.github.iree4j.vm.VmFunction;
import io.github.iree4j.vm.VmTypes;
import io.github.iree4j.vm.bytecode.BytecodeModule;
import io.github.iree4j.vm.bytecode.ModuleLimits;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Types that are recovered from code. */
class RecoveredDeclarationsTest {
    private static final VmTypes TYPES = HalTypes.register(VmTypes.standard());

    private int declared;
    private int recovered;
    private final List<String> open = new ArrayList<>();
    private final List<String> wrong = new ArrayList<>();

    @Test
    void whatIsRecoveredOfFixturesIsWhatTheyDeclare() {
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

    /** Whether they are the same, but for dimensions that are declared as open: the compiler has found that they are constant. */
    private static boolean agree(TensorType said, TensorType proven) {
        boolean agree = said.type().equals(proven.type()) && said.shape().length == proven.shape().length;
        for (int i = 0; agree && i < said.shape().length; i++) {
            agree = said.shape()[i] < 0 || said.shape()[i] == proven.shape()[i];
        }
        return agree;
    }
}

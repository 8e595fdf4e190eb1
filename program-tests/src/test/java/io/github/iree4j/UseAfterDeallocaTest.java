package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.modules.hal.HalTypes;
import io.github.iree4j.vm.VmModule;
import io.github.iree4j.vm.VmTypes;
import io.github.iree4j.vm.asm.VmAssembler;
import io.github.iree4j.vm.bytecode.BytecodeModule;
import io.github.iree4j.vm.bytecode.ModuleLimits;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Finds the programs with uses of buffers after deallocation, and shows correct runs. */
class UseAfterDeallocaTest {
    private static final VmTypes TYPES = HalTypes.register(VmTypes.standard());

    private static boolean isIn(VmModule module) {
        return UseAfterDealloca.isIn(List.of(module));
    }

    @Test
    void exactlyTheFixturesOfTheFaultyReleaseAreFound() {
        TreeSet<String> found = new TreeSet<>();
        for (FixtureManifest.Module each : FixtureManifest.read().modules()) {
            try (BytecodeModule module =
                    BytecodeModule.open(Fixtures.file(each.name()), TYPES, ModuleLimits.DEFAULTS)) {
                if (isIn(module)) {
                    found.add(each.name());
                }
            }
        }
        assertThat(found)
                .containsExactly(
                        "3.11.0/cpu/while_tensor.vmfb",
                        "3.11.0/vmvx/while_tensor.vmfb",
                        "3.11.0/vulkan/while_tensor.vmfb");
    }

    @ParameterizedTest
    @ValueSource(strings = {"3.11.0", "3.13.0"})
    void nothingIsLeftBehind(String release) {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = runtime.load(Fixtures.file(release + "/cpu/while_tensor.vmfb"))) {
            try (Results results = program.function("doubled").invoke(new float[] {1, 2, 3, 4}, Tensor.scalar(3))) {
                assertThat(results.tensor(0).toFloatArray()).containsExactly(8, 16, 24, 32);
            }
            assertThat(runtime.device().allocator().statistics().bytesLive()).isZero();
        }
    }

    // ---- Paths through the code.

    private static final String HEAD = """
            vm.module @m
            vm.type i32
            vm.type i64
            vm.type !hal.buffer
            vm.type !hal.device
            vm.type !hal.fence
            vm.import @hal.buffer.length cconv "0r_I"
            vm.import @hal.buffer.subspan cconv "0rII_r"
            vm.import @hal.device.queue.dealloca cconv "0rIrrrI_v"
            vm.export @f
            vm.func @f(%r0: !vm.ref<?>, %r1: !vm.ref<?>, %i0: i32) -> () {
            ^bb0:
              %r2 = vm.const.ref.zero
              %i2:3 = vm.const.i64.zero
            """;

    private static final String FREE = "  vm.call @hal.device.queue.dealloca(%r0, %i2, %r2, %r2, %r1, %i2)\n";

    private static boolean isInBody(String body) {
        byte[] bytes = VmAssembler.assemble(HEAD + body + "}\n");
        try (BytecodeModule module =
                BytecodeModule.read(MemorySegment.ofArray(bytes), "m", TYPES, ModuleLimits.DEFAULTS, null)) {
            return isIn(module);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "@  %i4:5 = vm.call @hal.buffer.length(%r1)\n  vm.return\n",
                "  %r3 = vm.select.ref %i0 ? %r1 : %r2 -> !hal.buffer\n@  %i4:5 = vm.call @hal.buffer.length(%r3)\n  vm.return\n",
                "  %r3 = vm.call @hal.buffer.subspan(%r1, %i2, %i2)\n@  %i4:5 = vm.call @hal.buffer.length(%r3)\n  vm.return\n",
                "@  vm.br ^bb1(%r1->%r4)\n^bb1:\n  %i4:5 = vm.call @hal.buffer.length(%r4)\n  vm.return\n",
                "  vm.br ^bb1(%r1->%r4, %R1->%r5)\n^bb1:\n  vm.br ^bb2(%r4->%r1)\n^bb2:\n@  %i4:5 = vm.call @hal.buffer.length(%r5)\n  vm.return\n",
                "  vm.br ^bb1()\n^bb1:\n  %i4:5 = vm.call @hal.buffer.length(%r1)\n@  vm.cond_br %i0, ^bb1(), ^bb2()\n^bb2:\n  vm.return\n",
                "  vm.cond_br %i0, ^bb1(), ^bb2()\n^bb1:\n@  vm.br ^bb2()\n^bb2:\n  %i4:5 = vm.call @hal.buffer.length(%r1)\n  vm.return\n"
            })
    void aUseOnSomeWayIsFound(String body) {
        assertThat(isInBody(body.replace("@  ", FREE + "  "))).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "  %i4:5 = vm.call @hal.buffer.length(%r1)\n@  vm.return\n",
                "@  vm.discard.refs %r1\n  vm.return\n",
                "  %R3 = vm.global.load.ref .refs[0] : !hal.buffer\n@  %i4:5 = vm.call @hal.buffer.length(%r3)\n  vm.return\n",
                "@  %r1 = vm.const.ref.zero\n  %i4:5 = vm.call @hal.buffer.length(%r1)\n  vm.return\n",
                "  vm.cond_br %i0, ^bb1(), ^bb2()\n^bb1:\n@  vm.return\n^bb2:\n  %i4:5 = vm.call @hal.buffer.length(%r1)\n  vm.return\n",
                "@  %i4:5 = vm.call @hal.buffer.length(%r2)\n  vm.return\n"
            })
    void harmlessMentionsAreNoUse(String body) {
        assertThat(isInBody(body.replace("@  ", FREE + "  "))).isFalse();
    }
}

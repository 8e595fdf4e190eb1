package io.github.iree4j.vm.asm;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.VmTypes;
import io.github.iree4j.vm.bytecode.BytecodeModule;
import io.github.iree4j.vm.bytecode.Compilation;
import io.github.iree4j.vm.bytecode.ModuleDef;
import io.github.iree4j.vm.bytecode.ModuleLimits;
import io.github.iree4j.vm.bytecode.ModuleVerifier;
import io.github.iree4j.vm.bytecode.ModuleVerifier.Finding;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("long")
class ModuleVerifierTest {
    private static final String SOURCE = """
            vm.module @m
            vm.import @other.sum cconv "0iI_r"
            vm.rodata[0] = "constant"
            vm.global.i32 mutable @counter
            vm.export @first
            vm.export @second
            vm.export @third
            vm.func @first(%i0: i32) -> (i32) {
            ^bb0:
              %i1 = vm.global.load.i32 @counter
              %i2 = vm.cmp.eq.i32 %i0, %i1
              vm.cond_br %i2, ^bb1(), ^bb2(%i1->%i0)
            ^bb1:
              vm.return %i1
            ^bb2:
              %i0 = vm.add.i32 %i0, %i1
              vm.return %i0
            }
            vm.func @second() -> (!vm.buffer) {
            ^bb0:
              %r0 = vm.const.ref.rodata 0
              vm.return %R0
            }
            vm.func @third(%i0: i32, %i2:3: i64) -> (!vm.buffer) {
            ^bb0:
              %r0 = vm.call @other.sum(%i0, %i2:3)
              %r1 = vm.call @second()
              %i0 = vm.call @first(%i0)
              vm.return %R0
            }
            """;

    private static byte[] assembled(String source) {
        return VmAssembler.assemble(source, Path.of("."));
    }

    private static List<Finding> verify(byte[] module) {
        return ModuleVerifier.verify(MemorySegment.ofArray(module), null, ModuleLimits.DEFAULTS);
    }

    @Test
    void aSoundModuleHasNoFindings() {
        assertThat(verify(assembled(SOURCE))).isEmpty();
    }

    @Test
    void reportsAllFindingsInEveryFunction() {
        String wrong = """
                vm.module @m
                vm.export @first
                vm.export @last
                vm.func @first() -> (i32) {
                  vm.registers values 2 refs 1
                ^bb0:
                  %i5 = vm.const.i32 1
                  %i0 = vm.add.i32 %i6, %i7
                  vm.return %i0
                }
                vm.func @fine() -> () {
                ^bb0:
                  vm.return
                }
                vm.func @last() -> (i32) {
                  vm.registers values 2 refs 1
                ^bb0:
                  %i1 = vm.const.i32 1
                  vm.return %i9
                }
                """;
        List<Finding> findings = verify(assembled(wrong));
        assertThat(findings).extracting(Finding::function).containsExactly("first", "first", "first", "last");
        assertThat(findings).extracting(Finding::code).containsOnly(StatusCode.INVALID_ARGUMENT);
        assertThat(findings)
                .extracting(Finding::message)
                .satisfiesExactly(
                        m -> assertThat(m).startsWith("offset 0x1: ").contains("value register 5"),
                        m -> assertThat(m).contains("value register 6"),
                        m -> assertThat(m).contains("value register 7"),
                        m -> assertThat(m).contains("value register 9"));
        assertThat(findings.getFirst().toString()).startsWith("INVALID_ARGUMENT; function 'first': offset 0x1: ");
    }

    @Test
    void continuesInTheNextFunctionAfterUnreadableCode() {
        byte[] module = assembled(SOURCE);
        ModuleDef def = ModuleDef.read(MemorySegment.ofArray(module), ModuleLimits.DEFAULTS);
        int code = indexOf(module, def.bytecode());
        for (int i : new int[] {0, 2}) {
            module[code + def.functions().get(i).offset() + 1] = (byte) 0xC7;
        }
        assertThat(verify(module)).extracting(Finding::function).containsExactly("first", "third");
    }

    @Test
    void typesWithoutAProviderAreFindings() {
        String source = SOURCE.replace("vm.rodata[0]", "vm.type !a.one\nvm.type !b.two\nvm.rodata[0]");
        List<Finding> findings = ModuleVerifier.verify(
                MemorySegment.ofArray(assembled(source)), VmTypes.standard(), ModuleLimits.DEFAULTS);
        assertThat(findings).extracting(Finding::function).containsOnlyNulls();
        assertThat(findings)
                .extracting(Finding::message)
                .satisfiesExactly(
                        m -> assertThat(m).contains("'!a.one'"),
                        m -> assertThat(m).contains("'!b.two'"));
    }

    @Test
    void aFileOfNoModuleIsASingleFinding() {
        assertThat(verify(new byte[100])).hasSize(1);
        assertThat(verify(new byte[0])).hasSize(1);
    }

    /** Loading and verifying apply the same rules. */
    @Test
    void findsSomethingExactlyWhenLoadingFailsAndTheSameFirst() {
        byte[] valid = assembled(SOURCE);
        ModuleDef def = ModuleDef.read(MemorySegment.ofArray(valid), ModuleLimits.DEFAULTS);
        int code = indexOf(valid, def.bytecode());
        int rounds = Effort.rounds(20_000, 200_000);
        long seed = Effort.seed(ModuleVerifierTest.class, rounds + " modules", 20260801);
        Random random = new Random(seed);
        int refused = 0;
        int several = 0;
        for (int round = 0; round < rounds; round++) {
            byte[] module = valid.clone();
            for (int n = 1 + random.nextInt(3); n > 0; n--) {
                int at = random.nextInt(4) == 0
                        ? random.nextInt(module.length)
                        : code + random.nextInt(def.bytecode().length);
                module[at] = (byte) (random.nextBoolean() ? random.nextInt(16) : random.nextInt());
            }
            List<Finding> findings = verify(module);
            String failure = load(module);
            assertThat(findings.isEmpty())
                    .as("seed %d, round %d: %s, loading: %s", seed, round, findings, failure)
                    .isEqualTo(failure == null);
            if (failure != null) {
                refused++;
                several += findings.size() > 1 ? 1 : 0;
                assertThat(failure)
                        .as("seed %d, round %d", seed, round)
                        .contains(findings.getFirst().message().replaceFirst("^import '.*?': ", ""));
            }
        }
        assertThat(refused).as("refused, seed " + seed).isBetween(rounds / 10, rounds - rounds / 100);
        assertThat(several).as("with several findings, seed " + seed).isPositive();
    }

    /** Returns the reason why a runtime with every type refuses the module, or null. */
    private static String load(byte[] module) {
        MemorySegment bytes = MemorySegment.ofArray(module);
        try {
            VmTypes types = VmTypes.standard();
            for (String type : ModuleDef.read(bytes, ModuleLimits.DEFAULTS).types()) {
                if (type.startsWith("!") && types.resolve(type) == null) {
                    types = types.with(type.substring(1), Object.class);
                }
            }
            BytecodeModule.read(bytes, "mutated", types, ModuleLimits.DEFAULTS, null, Compilation.OFF)
                    .close();
            return null;
        } catch (IreeException e) {
            return e.getMessage();
        }
    }

    private static int indexOf(byte[] file, byte[] part) {
        for (int i = 0; i + part.length <= file.length; i++) {
            if (java.util.Arrays.equals(file, i, i + part.length, part, 0, part.length)) {
                return i;
            }
        }
        throw new AssertionError("the code is not in the file");
    }
}

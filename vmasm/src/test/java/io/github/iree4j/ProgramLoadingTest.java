package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmModule;
import io.github.iree4j.vm.asm.VmAssembler;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Loading of matching and of unmatched modules. */
class ProgramLoadingTest {
    private static final String QUADRUPLE = """
            vm.module @main version 0
            vm.import @java.twice cconv "0i_i"
            vm.export @quadruple
            vm.func @quadruple(%i0: i32) -> (i32) {
            ^bb0:
              %i0 = vm.call @java.twice(%i0)
              %i0 = vm.call @java.twice(%i0)
              vm.return %i0
            }
            """;

    private final IreeRuntime runtime = IreeRuntime.create();
    private final AtomicInteger open = new AtomicInteger();

    @TempDir
    private Path directory;

    @AfterEach
    void nothingIsLeft() {
        runtime.close();
        assertThat(open).as("states of open modules").hasValue(0);
        assertThat(runtime.programs()).isEmpty();
    }

    private final class State implements AutoCloseable {
        State() {
            open.incrementAndGet();
        }

        @Override
        public void close() {
            open.decrementAndGet();
        }
    }

    private VmModule twice() {
        return NativeModule.builder("java", 3, State::new)
                .function("twice", "0i_i", (s, c) -> c.returnI32(2 * c.i32()))
                .build();
    }

    private void assertRefused(StatusCode code, ProgramOptions options, String... parts) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> runtime.load(options))
                .satisfies(e -> assertThat(e.code()).isEqualTo(code))
                .satisfies(e -> assertThat(e.getMessage()).contains(parts));
    }

    private static ProgramOptions.Builder assembled(String text) {
        return ProgramOptions.builder().module("test", VmAssembler.assemble(text));
    }

    @Test
    void compiledModulesImportFromEarlierModulesInJava() throws Exception {
        Path file = Files.write(directory.resolve("main.vmfb"), VmAssembler.assemble(QUADRUPLE));
        ProgramOptions options =
                ProgramOptions.builder().module(twice()).module(file).build();
        try (Program program = runtime.load(options);
                Results results = program.function("quadruple").invoke(5)) {
            assertThat(results.intValue(0)).isEqualTo(20);
            assertThat(program.name()).isEqualTo("main");
            assertThat(program.monitor().modules()).extracting(VmModule::name).containsExactly("java", "main");
            assertThat(program.functions())
                    .extracting(ProgramFunction::fullName)
                    .containsExactly("java.twice", "main.quadruple");
            try (Results direct = program.function("java.twice").invoke(4)) {
                assertThat(direct.intValue(0)).isEqualTo(8);
            }
        }
    }

    @Test
    void orderOfModulesMatters() {
        assertRefused(
                StatusCode.NOT_FOUND,
                assembled(QUADRUPLE).module(twice()).build(),
                "'java.twice'",
                "add the exporting module before the importing module");
    }

    @Test
    void programsOfAnotherHalSayHowToRecompile() {
        String text = """
                vm.module @old version 0
                vm.import @hal.command_buffer.dispatch cconv "0rrii_v"
                vm.export @f
                vm.func @f() -> () {
                ^bb0:
                  vm.return
                }
                """;
        assertRefused(
                StatusCode.INCOMPATIBLE,
                assembled(text).build(),
                "'hal.command_buffer.dispatch'",
                "'0rrii_v'",
                "version 7",
                "iree-compile 3.11");
        assertRefused(
                StatusCode.INCOMPATIBLE,
                assembled(text.replace("dispatch", "teleport")).build(),
                "'hal.command_buffer.teleport'",
                "iree-compile");
        assertRefused(
                StatusCode.INCOMPATIBLE, assembled("""
                        vm.module @new version 0
                        vm.dependency @hal version 99
                        vm.export @f
                        vm.func @f() -> () {
                        ^bb0:
                          vm.return
                        }
                        """).build(), "needs module 'hal' of version 99", "found version 7");
    }

    @Test
    void programsWithoutCodeForTheDeviceNameTheFormatsSought() {
        assertRefused(
                StatusCode.INCOMPATIBLE,
                assembled("""
                        vm.module @gpu version 0
                        vm.type !hal.device
                        vm.type !vm.buffer
                        vm.import @hal.devices.get cconv "0i_r"
                        vm.import @hal.device.query.i64 cconv "0rrr_iI"
                        vm.rodata[0] @category = "hal.executable.format"
                        vm.rodata[1] @key = "quantum-v1"
                        vm.export @__init
                        vm.func @__init() -> () {
                        ^bb0:
                          %i0 = vm.const.i32 0
                          %r0 = vm.call @hal.devices.get(%i0)
                          %r1 = vm.const.ref.rodata @category
                          %r2 = vm.const.ref.rodata @key
                          %i1, %i2:3 = vm.call @hal.device.query.i64(%R0, %R1, %R2)
                          %i4 = vm.const.i32 18
                          vm.fail %i4, "no device"
                        }
                        """).build(),
                "wants executables of format quantum-v1",
                "device 'local' has embedded-elf-",
                "no device",
                "--iree-hal-target-device=local");
    }

    @Test
    void failingInitialisersLeaveNothingBehind() {
        assertRefused(
                StatusCode.RESOURCE_EXHAUSTED,
                ProgramOptions.builder()
                        .module(twice())
                        .module("bad", VmAssembler.assemble("""
                                vm.module @bad version 0
                                vm.export @__init
                                vm.func @__init() -> () {
                                ^bb0:
                                  %i0 = vm.const.i32 8
                                  vm.fail %i0, "as asked"
                                }
                                """))
                        .build(),
                "as asked",
                "bad.__init");
    }

    @Test
    void filesOfNoModuleAreRefusedByName() throws Exception {
        long seed = Effort.seed(20261120);
        byte[] noise = new byte[4096];
        new Random(seed).nextBytes(noise);
        Path file = Files.write(directory.resolve("noise.vmfb"), noise);
        assertThatExceptionOfType(IreeException.class)
                .as("seed %d", seed)
                .isThrownBy(() -> runtime.load(file))
                .withMessageContaining("noise.vmfb");
        Path empty = Files.createFile(directory.resolve("empty.vmfb"));
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> runtime.load(empty))
                .withMessageContaining("empty.vmfb");
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> runtime.load(directory))
                .withMessageContaining(directory.toString());
    }

    @Test
    void missingOrDamagedArchivesAreRefusedByName() throws Exception {
        Path archive = Files.write(directory.resolve("weights.irpa"), new byte[200]);
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> runtime.load(ProgramOptions.builder()
                        .module(twice())
                        .parameters("model", archive)
                        .build()))
                .withMessageContaining("weights.irpa");
        assertRefused(
                StatusCode.NOT_FOUND,
                ProgramOptions.builder()
                        .module(twice())
                        .parameters("model", directory.resolve("none.irpa"))
                        .build(),
                "none.irpa");
    }

    @Test
    void programsSeeOnlyTheirGivenDevices() {
        try (IreeRuntime two = IreeRuntime.builder()
                        .device("local")
                        .device("local-sync")
                        .build();
                Program both = two.load(ProgramOptions.builder().module(twice()).build());
                Program one = two.load(ProgramOptions.builder()
                        .module(twice())
                        .device("local-sync")
                        .build())) {
            assertThat(both.devices()).hasSize(2);
            assertThat(one.devices()).containsExactly(two.devices().get(1));
        }
    }

    @Test
    void failedExpectationsFailTheCall() {
        String text = """
                vm.module @test version 0
                vm.import optional @check.expect_true cconv "0i_v"
                vm.export @run
                vm.func @run(%i0: i32) -> () {
                ^bb0:
                  vm.call @check.expect_true(%i0)
                  vm.return
                }
                """;
        try (Program program = runtime.load(assembled(text).build())) {
            program.function("run").invoke(1).close();
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> program.function("run").invoke(0))
                    .withMessageContaining("expect_true does not hold");
        }
    }
}

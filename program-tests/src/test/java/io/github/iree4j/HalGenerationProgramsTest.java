package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.vm.asm.VmAssembler;
import java.util.HexFormat;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The same program as emitted by compilers of four years, with a portable kernel inside: {@code add} returns the
 * integers plus 100. Together with the published modules these are whole programs of every generation.
 */
class HalGenerationProgramsTest {
    /** Adds a pushed or passed constant to the integer of the workgroup. */
    private static final String KERNEL = """
        vm.module @kernels
        vm.bytecode %d
        vm.type !vm.buffer
        vm.type !vm.list<!vm.buffer>
        vm.export @add
        vm.func @add(%%r0: !vm.buffer, %%r1: !vm.buffer, %%r2: !vm.list<!vm.buffer>, %%i0: i32, %%i1: i32, %%i2: i32, %%i3: i32, %%i4: i32, %%i5: i32, %%i6: i32, %%i7: i32, %%i8: i32) -> () {
        ^bb0:
          %%i9 = vm.const.i32.zero
          %%i10:11 = vm.const.i64.zero
          %%i12 = vm.buffer.load.i32 %%r1, %%i10:11
          %%r3 = vm.list.get.ref %%r2, %%i9 : !vm.buffer
          %%i14:15 = vm.ext.i32.i64.u %%i0
          %%i13 = vm.buffer.load.i32 %%r3, %%i14:15
          %%i13 = vm.add.i32 %%i13, %%i12
          %%i9 = vm.const.i32 1
          %%r3 = vm.list.get.ref %%r2, %%i9 : !vm.buffer
          vm.buffer.store.i32 %%i13, %%r3, %%i14:15
          vm.return
        }
        """;

    private static final String TYPES = """
        vm.type !hal.buffer
        vm.type !hal.buffer_view
        vm.type !hal.command_buffer
        vm.type !hal.device
        vm.type !hal.executable
        vm.type !hal.fence
        vm.type !vm.buffer
        vm.rodata[0] = "vmvx-bytecode-fb"
        vm.import @hal.buffer_view.buffer cconv "0r_r"
        vm.import @hal.buffer_view.create cconv "0rIIiiCID_r"
        vm.import @hal.buffer.length cconv "0r_I"
        vm.import @hal.command_buffer.finalize cconv "0r_v"
        """;

    private static final String CONSTANTS = """
          %i0 = vm.const.i32.zero
          %i1 = vm.const.i32 1
          %i2 = vm.const.i32 3
          %i3 = vm.const.i32 28
          %i4 = vm.const.i32 13
          %i5 = vm.const.i32 48
          %i6 = vm.const.i32 3075
          %i7 = vm.const.i32 -1
          %i8:9 = vm.const.i64 -1
          %i10:11 = vm.const.i64.zero
          %i12 = vm.const.i32 268435488
          %i13 = vm.const.i32 100
          %i14 = vm.const.i32 4
          %r1 = vm.const.ref.zero
        """;

    private static final String RETURN = """
          vm.cond_br %i18, ^bb2(), ^bb1()
        ^bb1:
          %i20:21 = vm.ext.i32.i64.u %i14
          %r0 = vm.call.variadic @hal.buffer_view.create segments[65535, 65535, 65535, 65535, 65535, 1](%R6, %i10:11, %i16:17, %i12, %i1, %i20:21)
          vm.return %R0
        ^bb2:
          vm.fail %i18, "failed to wait on timepoint"
        }
        """;

    /** March to August 2023. */
    private static final String OF_2023 = """
        vm.module @module
        vm.bytecode 15
        vm.type !hal.descriptor_set_layout
        vm.type !hal.pipeline_layout
        """ + TYPES + """
        vm.rodata[1] align 64 external = KERNEL
        vm.rodata[2] = 64000000
        vm.import @hal.ex.shared_device cconv "0v_r"
        vm.import @hal.allocator.allocate.initialized cconv "0riirII_r"
        vm.import @hal.command_buffer.copy_buffer cconv "0rrIrII_v"
        vm.import @hal.device.allocator cconv "0r_r"
        vm.import @hal.descriptor_set_layout.create cconv "0riCiiiD_r"
        vm.import @hal.pipeline_layout.create cconv "0riCrD_r"
        vm.import @hal.executable.create cconv "0rrrrCrD_r"
        vm.import @hal.command_buffer.create cconv "0riii_r"
        vm.import @hal.command_buffer.push_constants cconv "0rriCiD_v"
        vm.import @hal.command_buffer.push_descriptor_set cconv "0rriCiirIID_v"
        vm.import @hal.command_buffer.dispatch cconv "0rriiii_v"
        vm.import @hal.command_buffer.execution_barrier cconv "0riii_v"
        vm.import @hal.device.queue.alloca cconv "0rIrriiiI_r"
        vm.import @hal.device.queue.execute cconv "0rIrrCrD_v"
        vm.import @hal.fence.create cconv "0ri_r"
        vm.import @hal.fence.await cconv "0iCrD_i"
        vm.export @__init
        vm.func @__init() -> () {
        ^bb0:
          %i0 = vm.const.i32.zero
          %i1 = vm.const.i32 1
          %i2 = vm.const.i32 7
          %r0 = vm.call @hal.ex.shared_device()
          %r1 = vm.call.variadic @hal.descriptor_set_layout.create segments[65535, 65535, 2](%r0, %i0, %i0, %i2, %i0, %i1, %i2, %i0)
          %r1 = vm.call.variadic @hal.pipeline_layout.create segments[65535, 65535, 1](%r0, %i1, %R1)
          vm.global.store.ref %r1, .refs[0] : !hal.pipeline_layout
          %r2 = vm.const.ref.rodata 0
          %r3 = vm.const.ref.rodata 1
          %r4 = vm.const.ref.zero
          %r0 = vm.call.variadic @hal.executable.create segments[65535, 65535, 65535, 65535, 1](%R0, %R2, %R3, %R4, %R1)
          vm.global.store.ref %R0, .refs[1] : !hal.executable
          vm.return
        }
        vm.export @add
        vm.func @add(%r0: !vm.ref<?>) -> (!vm.ref<?>) {
        ^bb0:
        """ + CONSTANTS + """
          %r2 = vm.call @hal.ex.shared_device()
          %r3 = vm.global.load.ref .refs[0] : !hal.pipeline_layout
          %r4 = vm.global.load.ref .refs[1] : !hal.executable
          %r0 = vm.call @hal.buffer_view.buffer(%R0)
          %i16:17 = vm.call @hal.buffer.length(%r0)
          %r5 = vm.call @hal.fence.create(%r2, %i0)
          %r6 = vm.call @hal.device.queue.alloca(%r2, %i8:9, %R1, %r5, %i0, %i5, %i6, %i16:17)
          %r7 = vm.call @hal.command_buffer.create(%r2, %i1, %i2, %i0)
          vm.call.variadic @hal.command_buffer.push_constants segments[65535, 65535, 65535, 1](%r7, %r3, %i0, %i13)
          vm.call.variadic @hal.command_buffer.push_descriptor_set segments[65535, 65535, 65535, 2](%r7, %R3, %i0, %i0, %i0, %R0, %i10:11, %i16:17, %i1, %i0, %r6, %i10:11, %i16:17)
          vm.call @hal.command_buffer.dispatch(%r7, %R4, %i0, %i14, %i1, %i1)
          vm.call @hal.command_buffer.execution_barrier(%r7, %i3, %i4, %i0)
          vm.call @hal.command_buffer.finalize(%r7)
          %r8 = vm.call @hal.fence.create(%r2, %i0)
          vm.call.variadic @hal.device.queue.execute segments[65535, 65535, 65535, 65535, 1](%R2, %i8:9, %R5, %r8, %R7)
          %i18 = vm.call.variadic @hal.fence.await segments[65535, 1](%i7, %R8)
        """ + RETURN;

    /** August 2024 to March 2025, bytecode 15; without flags, with slots. */
    private static final String OF_2024 = """
        vm.module @module
        vm.bytecode 15
        """ + TYPES + """
        vm.rodata[1] align 64 external = KERNEL
        vm.import @hal.devices.get cconv "0i_r"
        vm.import @hal.executable.create cconv "0rrrr_r"
        vm.import @hal.command_buffer.create cconv "0riiIi_r"
        vm.import @hal.command_buffer.dispatch cconv "0rriiiiICiDCiirIID_v"
        vm.import @hal.command_buffer.execution_barrier cconv "0riii_v"
        vm.import @hal.device.queue.alloca cconv "0rIrriiiI_r"
        vm.import @hal.device.queue.execute.indirect cconv "0rIrrrCrIID_v"
        vm.import @hal.fence.create cconv "0ri_r"
        vm.import @hal.fence.await cconv "0iCrD_i"
        vm.export @__init
        vm.func @__init() -> () {
        ^bb0:
          %i0 = vm.const.i32.zero
          %r0 = vm.call @hal.devices.get(%i0)
          %r2 = vm.const.ref.rodata 0
          %r3 = vm.const.ref.rodata 1
          %r4 = vm.const.ref.zero
          %r0 = vm.call @hal.executable.create(%R0, %R2, %R3, %R4)
          vm.global.store.ref %R0, .refs[1] : !hal.executable
          vm.return
        }
        vm.export @add
        vm.func @add(%r0: !vm.ref<?>) -> (!vm.ref<?>) {
        ^bb0:
        """ + CONSTANTS + """
          %r2 = vm.call @hal.devices.get(%i0)
          %r4 = vm.global.load.ref .refs[1] : !hal.executable
          %r0 = vm.call @hal.buffer_view.buffer(%R0)
          %i16:17 = vm.call @hal.buffer.length(%r0)
          %r5 = vm.call @hal.fence.create(%r2, %i0)
          %r6 = vm.call @hal.device.queue.alloca(%r2, %i8:9, %r1, %r5, %i0, %i5, %i6, %i16:17)
          %i15 = vm.const.i32 2
          %r7 = vm.call @hal.command_buffer.create(%r2, %i0, %i2, %i8:9, %i15)
          vm.call.variadic @hal.command_buffer.dispatch segments[65535, 65535, 65535, 65535, 65535, 65535, 65535, 1, 2](%r7, %R4, %i0, %i14, %i1, %i1, %i10:11, %i13, %i0, %i0, %r1, %i10:11, %i16:17, %i0, %i1, %R1, %i10:11, %i16:17)
          vm.call @hal.command_buffer.execution_barrier(%r7, %i3, %i4, %i0)
          vm.call @hal.command_buffer.finalize(%r7)
          %r8 = vm.call @hal.fence.create(%r2, %i0)
          vm.call.variadic @hal.device.queue.execute.indirect segments[65535, 65535, 65535, 65535, 65535, 2](%R2, %i8:9, %R5, %r8, %R7, %R0, %i10:11, %i16:17, %r6, %i10:11, %i16:17)
          %i18 = vm.call.variadic @hal.fence.await segments[65535, 1](%i7, %R8)
        """ + RETURN;

    /** March 2025 to May 2026, here as written by IREE 3.10: bytecode 16. */
    private static final String OF_3_10 = OF_2024.replace("vm.bytecode 15", "vm.bytecode 16")
            .replace("hal.executable.create cconv \"0rrrr_r\"", "hal.executable.create cconv \"0rIrrr_r\"")
            .replace("executable.create(%R0, %R2", "executable.create(%R0, %i8:9, %R2")
            .replace("  %r2 = vm.const.ref.rodata 0\n", "  %i8:9 = vm.const.i64 -1\n  %r2 = vm.const.ref.rodata 0\n")
            .replace("execution_barrier cconv \"0riii_v\"", "execution_barrier cconv \"0riiI_v\"")
            .replace("execution_barrier(%r7, %i3, %i4, %i0)", "execution_barrier(%r7, %i3, %i4, %i10:11)")
            .replace("alloca cconv \"0rIrriiiI_r\"", "alloca cconv \"0rIrrIiiII_r\"")
            .replace("%r1, %r5, %i0, %i5, %i6, %i16:17)", "%r1, %r5, %i10:11, %i5, %i6, %i16:17, %i10:11)")
            .replace("indirect cconv \"0rIrrrCrIID_v\"", "indirect cconv \"0rIrrrICrIID_v\"")
            .replace(
                    "segments[65535, 65535, 65535, 65535, 65535, 2](%R2, %i8:9, %R5, %r8, %R7, ",
                    "segments[65535, 65535, 65535, 65535, 65535, 65535, 2](%R2, %i8:9, %R5, %r8, %R7, %i10:11, ")
            .replace("fence.create cconv \"0ri_r\"", "fence.create cconv \"0rI_r\"")
            .replace("fence.create(%r2, %i0)", "fence.create(%r2, %i10:11)")
            .replace("fence.await cconv \"0iCrD_i\"", "fence.await cconv \"0iICrD_i\"")
            .replace("segments[65535, 1](%i7, %R8)", "segments[65535, 65535, 1](%i7, %i10:11, %R8)");

    private static IreeRuntime runtime;

    @BeforeAll
    static void open() {
        runtime = IreeRuntime.create();
    }

    @AfterAll
    static void close() {
        runtime.close();
        assertThat(runtime.device().allocator().statistics().bytesLive()).isZero();
    }

    private static byte[] assembled(String text, int kernelVersion) {
        byte[] kernel = VmAssembler.assemble(KERNEL.formatted(kernelVersion));
        return VmAssembler.assemble(text.replace("KERNEL", HexFormat.of().formatHex(kernel)));
    }

    @ParameterizedTest
    @CsvSource({"2023, 15", "2024, 15", "3.10, 16", "3.10, 15", "2023, 17"})
    void programsOfEveryGenerationRunTheirKernels(String generation, int kernelVersion) {
        String text = switch (generation) {
            case "2023" -> OF_2023;
            case "2024" -> OF_2024;
            default -> OF_3_10;
        };
        ProgramOptions options = ProgramOptions.builder()
                .module("program of " + generation, assembled(text, kernelVersion))
                .build();
        try (Program program = runtime.load(options);
                Tensor numbers = Tensor.of(new int[] {1, 2, 3, 4}, 4)) {
            for (int i = 0; i < 3; i++) {
                try (Results results = program.function("add").invoke(numbers)) {
                    assertThat(results.tensor(0).toIntArray()).containsExactly(101, 102, 103, 104);
                }
            }
        }
    }

    @Test
    void importsOfNoGenerationAreRefusedWithTheSuitableCompilers() {
        String text = OF_2024.replace("fence.create cconv \"0ri_r\"", "fence.create cconv \"0rII_r\"")
                .replace("fence.create(%r2, %i0)", "fence.create(%r2, %i10:11, %i10:11)");
        ProgramOptions options = ProgramOptions.builder()
                .module("program of the future", assembled(text, 15))
                .build();
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> runtime.load(options))
                .withMessageContaining("'hal.fence.create' with convention '0rII_r'")
                .withMessageContaining("'0ri_r'")
                .withMessageContaining("programs compiled by IREE of March 2023 to August 2026 can use it");
    }
}

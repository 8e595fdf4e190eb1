package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.modules.hal.HalTypes;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.VmTypes;
import io.github.iree4j.vm.asm.VmAssembler;
import io.github.iree4j.vm.bytecode.BytecodeModule;
import io.github.iree4j.vm.bytecode.ModuleLimits;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Programs as emitted by compilers for {@code --iree-execution-model=inline-static} and {@code inline-dynamic}. */
class InlineModelsTest {
    private final IreeRuntime runtime = IreeRuntime.create();

    @TempDir
    private Path directory;

    @AfterEach
    void nothingIsLeft() {
        runtime.close();
        assertThat(runtime.device().allocator().statistics().bytesLive())
                .as("bytes of buffers still allocated")
                .isZero();
    }

    private Program load(String text) {
        return runtime.load(ProgramOptions.builder()
                .module("inline", VmAssembler.assemble(text, directory))
                .build());
    }

    private static String assertInput(String view) {
        return """
                  %%i0 = vm.const.i32 0x21000020
                  %%i1 = vm.const.i32 1
                  %%i2:3 = vm.const.i64 4
                  %%r9 = vm.const.ref.rodata 0
                  vm.call.variadic @hal_inline.buffer_view.assert segments[65535, 65535, 65535, 65535, 1](%s, %%r9, %%i0, %%i1, %%i2:3)
                """.formatted(view);
    }

    /** Adds with vmvx, in a loop with the VM's own instructions, or by a kernel. */
    private static final String HEADER = """
            vm.module @inline version 0
            vm.type !hal.buffer
            vm.type !hal.buffer_view
            vm.type !hal.executable
            vm.type !vm.buffer
            vm.import @hal_inline.buffer.allocate cconv "0iI_rr"
            vm.import @hal_inline.buffer.allocate.initialized cconv "0irII_rr"
            vm.import @hal_inline.buffer.length cconv "0r_I"
            vm.import @hal_inline.buffer.storage cconv "0r_r"
            vm.import @hal_inline.buffer.subspan cconv "0rII_r"
            vm.import @hal_inline.buffer.wrap cconv "0rII_r"
            vm.import @hal_inline.buffer_view.assert cconv "0rriiCID_v"
            vm.import @hal_inline.buffer_view.buffer cconv "0r_r"
            vm.import @hal_inline.buffer_view.create cconv "0rIIiiCID_r"
            vm.import @hal_inline.buffer_view.dim cconv "0ri_I"
            vm.import @hal_inline.buffer_view.element_type cconv "0r_i"
            vm.import @hal_inline.buffer_view.encoding_type cconv "0r_i"
            vm.import @hal_inline.buffer_view.rank cconv "0r_i"
            vm.import @hal_inline.buffer_view.trace cconv "0rCrD_v"
            vm.import @hal_inline.device.query.i64 cconv "0rr_iI"
            """;

    private static final String SIGNATURE = """
            vm.func @add(%r0: !hal.buffer_view, %r1: !hal.buffer_view) -> (!hal.buffer_view) {
              vm.attr "iree.abi.declaration" = "sync func @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (%c: tensor<4xf32>)"
            ^bb0:
            """;

    private static final String STORAGE = """
              %r0 = vm.call @hal_inline.buffer_view.buffer(%r0)
              %r1 = vm.call @hal_inline.buffer_view.buffer(%r1)
              %r2 = vm.call @hal_inline.buffer.storage(%r0)
              %r3 = vm.call @hal_inline.buffer.storage(%r1)
              %i4 = vm.const.i32 64
              %i6:7 = vm.call @hal_inline.buffer.length(%r0)
              %r4, %r5 = vm.call @hal_inline.buffer.allocate(%i4, %i6:7)
            """;

    private static final String RESULT = """
              %i8:9 = vm.const.i64.zero
              %r4 = vm.call.variadic @hal_inline.buffer_view.create segments[65535, 65535, 65535, 65535, 65535, 1](%r4, %i8:9, %i6:7, %i0, %i1, %i2:3)
              vm.return %r4
            }
            """;

    @Test
    void staticInlineProgramsRun() {
        String text = HEADER + """
                vm.import @vmvx.add.2d.f32 cconv "0rIIIrIIIrIIIII_v"
                vm.rodata[0] = "tensor"
                vm.export @add
                """ + SIGNATURE + assertInput("%r0") + assertInput("%r1") + STORAGE + """
                  %i8:9 = vm.const.i64.zero
                  %i10:11 = vm.const.i64 1
                  vm.call @vmvx.add.2d.f32(%r2, %i8:9, %i2:3, %i10:11, %r3, %i8:9, %i2:3, %i10:11, %r5, %i8:9, %i2:3, %i10:11, %i10:11, %i2:3)
                """ + RESULT;
        try (Program program = load(text);
                Results results =
                        program.function("add").invoke(new float[] {1, 2, 3, 4}, new float[] {10, 20, 30, 40})) {
            assertThat(results.tensor(0)).hasToString("4xf32=11 22 33 44");
        }
    }

    @Test
    void buffersOfInlineProgramsAreBuffersOfTheDevice() {
        String text = HEADER + """
                vm.rodata[0] = "tensor"
                vm.rodata[1] align 64 external = 0000803F000000400000404000008040
                vm.rodata[2] = "hal.executable.format"
                vm.rodata[3] = "vmvx-bytecode-fb"
                vm.export @describe
                vm.export @constant
                vm.export @wrapped
                vm.export @query
                vm.func @describe(%r0: !hal.buffer_view) -> (i32, i32, i32, i64) {
                ^bb0:
                  %i0 = vm.call @hal_inline.buffer_view.rank(%r0)
                  %i1 = vm.call @hal_inline.buffer_view.element_type(%r0)
                  %i2 = vm.call @hal_inline.buffer_view.encoding_type(%r0)
                  %i3 = vm.const.i32 1
                  %i4:5 = vm.call @hal_inline.buffer_view.dim(%r0, %i3)
                  %r1 = vm.const.ref.rodata 0
                  vm.call.variadic @hal_inline.buffer_view.trace segments[65535, 1](%r1, %r0)
                  vm.return %i0, %i1, %i2, %i4:5
                }
                vm.func @constant() -> (!hal.buffer_view) {
                ^bb0:
                  %r0 = vm.const.ref.rodata 1
                  %i0 = vm.const.i32 0x21000020
                  %i1 = vm.const.i32 1
                  %i2:3 = vm.const.i64 2
                  %i4:5 = vm.const.i64 4
                  %i6:7 = vm.const.i64 12
                  %i8:9 = vm.const.i64 8
                  %r1, %r2 = vm.call @hal_inline.buffer.allocate.initialized(%i1, %r0, %i4:5, %i6:7)
                  %r1 = vm.call @hal_inline.buffer.subspan(%r1, %i4:5, %i8:9)
                  %i6:7 = vm.const.i64.zero
                  %r1 = vm.call.variadic @hal_inline.buffer_view.create segments[65535, 65535, 65535, 65535, 65535, 1](%r1, %i6:7, %i8:9, %i0, %i1, %i2:3)
                  vm.return %r1
                }
                vm.func @wrapped() -> (!hal.buffer_view) {
                ^bb0:
                  %r0 = vm.const.ref.rodata 1
                  %i0 = vm.const.i32 0x21000020
                  %i1 = vm.const.i32 1
                  %i2:3 = vm.const.i64 4
                  %i4:5 = vm.const.i64.zero
                  %i6:7 = vm.const.i64 16
                  %r1 = vm.call @hal_inline.buffer.wrap(%r0, %i4:5, %i6:7)
                  %r1 = vm.call.variadic @hal_inline.buffer_view.create segments[65535, 65535, 65535, 65535, 65535, 1](%r1, %i4:5, %i6:7, %i0, %i1, %i2:3)
                  vm.return %r1
                }
                vm.func @query() -> (i32, i64) {
                ^bb0:
                  %r0 = vm.const.ref.rodata 2
                  %r1 = vm.const.ref.rodata 3
                  %i0, %i2:3 = vm.call @hal_inline.device.query.i64(%r0, %r1)
                  vm.return %i0, %i2:3
                }
                """;
        try (Program program = load(text);
                Results shape = program.function("describe").invoke(Tensor.of(new float[6], 2, 3));
                Results constant = program.function("constant").invoke();
                Results wrapped = program.function("wrapped").invoke();
                Results query = program.function("query").invoke()) {
            assertThat(shape.asList()).containsExactly(2, 0x21000020, 1, 3L);
            assertThat(constant.tensor(0)).hasToString("2xf32=3 4");
            assertThat(wrapped.tensor(0)).hasToString("4xf32=1 2 3 4");
            assertThat(query.asList()).containsExactly(1, 1L);
        }
    }

    private static final String KERNELS = """
            vm.module @kernels version 0
            vm.type i32
            vm.type !vm.buffer
            vm.type !vm.list<!vm.buffer>
            vm.export @add
            vm.func @add(%r0: !vm.buffer, %r1: !vm.buffer, %r2: !vm.list<?>, %i0: i32, %i1: i32, %i2: i32, %i3: i32, %i4: i32, %i5: i32, %i6: i32, %i7: i32, %i8: i32) -> () {
            ^bb0:
              %i9 = vm.const.i32.zero
              %r3 = vm.list.get.ref %r2, %i9 : !vm.buffer
              %i9 = vm.const.i32 1
              %r4 = vm.list.get.ref %r2, %i9 : !vm.buffer
              %i9 = vm.const.i32 2
              %r5 = vm.list.get.ref %r2, %i9 : !vm.buffer
              %i10:11 = vm.ext.i32.i64.s %i0
              %i12 = vm.buffer.load.f32 %r3, %i10:11
              %i13 = vm.buffer.load.f32 %r4, %i10:11
              %i12 = vm.add.f32 %i12, %i13
              %i14:15 = vm.const.i64.zero
              %i13 = vm.buffer.load.f32 %r1, %i14:15
              %i12 = vm.add.f32 %i12, %i13
              vm.buffer.store.f32 %i12, %r5, %i10:11
              vm.return
            }
            """;

    /** As the fixture's, with the executable in {@code kernel.bin} of a format, and the bindings as given. */
    private static String dynamic(String format, String dispatch, String id, String kernelArguments, String bindings) {
        return HEADER
                + """
                vm.import @hal_loader.executable.query_support cconv "0r_i"
                vm.import @hal_loader.executable.load cconv "0rrr_r"
                vm.import optional @hal_loader.executable.lookup.function cconv "0rr_I"
                vm.import @hal_loader.executable.dispatch cconv "%s"
                vm.rodata[0] = "tensor"
                vm.rodata[1] = "%s"
                vm.rodata[2] align 64 external = file "kernel.bin"
                vm.rodata[3] = "add"
                vm.global.ref mutable @executable
                vm.export @add
                vm.export @__init
                vm.func @__init() -> () {
                ^bb0:
                  %%r0 = vm.const.ref.rodata 1
                  %%i0 = vm.call @hal_loader.executable.query_support(%%r0)
                  vm.cond_br %%i0, ^yes(), ^no()
                ^no:
                  %%i0 = vm.const.i32 14
                  vm.fail %%i0, "format is not supported"
                ^yes:
                  %%r1 = vm.const.ref.rodata 2
                  %%r2 = vm.const.ref.zero
                  %%r3 = vm.call @hal_loader.executable.load(%%r0, %%r1, %%r2)
                  vm.global.store.ref %%r3, @executable : !hal.executable
                  vm.return
                }
                """.formatted(dispatch, format)
                + SIGNATURE
                + assertInput("%r0")
                + assertInput("%r1")
                + STORAGE
                + """
                  %%r6 = vm.global.load.ref @executable : !hal.executable
                  %%r7 = vm.const.ref.rodata 3
                %s
                  %%i14 = vm.const.i32 1
                  %%i15 = vm.const.i32 4
                  %%i16:17 = vm.const.i64.zero
                  %%i18 = vm.const.f32 0.5
                  vm.call.variadic @hal_loader.executable.dispatch segments[65535, 65535, 65535, 65535, 65535, %s, 3](%%r6, %s)
                """.formatted(id, kernelArguments, bindings)
                + RESULT;
    }

    private static final String BY_ID = "  %i10:11 = vm.call @hal_loader.executable.lookup.function(%r6, %r7)";
    private static final String BY_ORDINAL = "  %i10 = vm.const.i32.zero";
    private static final String IN_PLACE = "%r2, %i16:17, %i6:7, %r3, %i16:17, %i6:7, %r5, %i16:17, %i6:7";

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void dynamicInlineProgramsDispatchToPortableExecutables(boolean byId) throws Exception {
        Files.write(directory.resolve("kernel.bin"), VmAssembler.assemble(KERNELS));
        String text = dynamic(
                "vmvx-bytecode-fb",
                byId ? "0rIiiiCiDCrIID_v" : "0riiiiCiDCrIID_v",
                byId ? BY_ID : BY_ORDINAL,
                "1",
                (byId ? "%i10:11" : "%i10") + ", %i15, %i14, %i14, %i18, " + IN_PLACE);
        try (Program program = load(text)) {
            for (int i = 0; i < 3; i++) {
                try (Results results =
                        program.function("add").invoke(new float[] {1, 2, 3, 4}, new float[] {10, 20, 30, 40})) {
                    assertThat(results.tensor(0)).hasToString("4xf32=11.5 22.5 33.5 44.5");
                }
            }
        }
    }

    @Test
    void dynamicInlineProgramsDispatchToCompiledExecutables() throws Exception {
        Assumptions.assumeTrue(
                runtime.device()
                                .queryI64("hal.executable.format", "embedded-elf-x86_64")
                                .orElse(0)
                        == 1,
                "compiled for x86_64, through the native library");
        try (BytecodeModule fixture = BytecodeModule.open(
                Fixtures.file("3.11.0/cpu/add.vmfb"), HalTypes.register(VmTypes.standard()), ModuleLimits.DEFAULTS)) {
            byte[] elf = fixture.definition().rodata().get(4).bytes().toArray(ValueLayout.JAVA_BYTE);
            Files.write(directory.resolve("kernel.bin"), elf);
        }
        String text = dynamic(
                "embedded-elf-x86_64", "0riiiiCiDCrIID_v", BY_ORDINAL, "0", "%i10, %i14, %i14, %i14, " + IN_PLACE);
        try (Program program = load(text);
                Results results =
                        program.function("add").invoke(new float[] {1, 2, 3, 4}, new float[] {10, 20, 30, 40})) {
            assertThat(results.tensor(0)).hasToString("4xf32=11 22 33 44");
        }
    }

    @Test
    void memoryOnTheJavaHeapIsCopiedInAndOut() throws Exception {
        Files.write(directory.resolve("kernel.bin"), VmAssembler.assemble(KERNELS));
        String heap = """
                  %i20:21 = vm.const.i64 48
                  %i10 = vm.const.i32 16
                  %r8 = vm.buffer.alloc %i20:21, %i10
                  %i22:23 = vm.const.i64 16
                  %i24:25 = vm.const.i64 32
                  %i16:17 = vm.const.i64.zero
                  vm.buffer.copy %r2, %i16:17, %r8, %i16:17, %i6:7
                  vm.buffer.copy %r3, %i16:17, %r8, %i22:23, %i6:7
                """ + BY_ORDINAL;
        // All three bindings are parts of the same buffer of the program.
        String text = dynamic(
                        "vmvx-bytecode-fb",
                        "0riiiiCiDCrIID_v",
                        heap,
                        "1",
                        "%i10, %i15, %i14, %i14, %i18, %r8, %i16:17, %i6:7, %r8, %i22:23, %i6:7, %r8, %i24:25, %i6:7")
                .replace(RESULT, "  vm.buffer.copy %r8, %i24:25, %r5, %i16:17, %i6:7\n" + RESULT);
        try (Program program = load(text);
                Results results =
                        program.function("add").invoke(new float[] {1, 2, 3, 4}, new float[] {10, 20, 30, 40})) {
            assertThat(results.tensor(0)).hasToString("4xf32=11.5 22.5 33.5 44.5");
        }
    }

    @Test
    void aFailingKernelFailsTheCall() throws Exception {
        Files.write(directory.resolve("kernel.bin"), VmAssembler.assemble(KERNELS));
        String text = dynamic(
                        "vmvx-bytecode-fb",
                        "0riiiiCiDCrIID_v",
                        BY_ORDINAL,
                        "1",
                        "%i10, %i1, %i14, %i14, %i18, " + IN_PLACE) // 1 of 4 workgroups
                .replace("%i15 = vm.const.i32 4", "%i1 = vm.const.i32 99");
        try (Program program = load(text)) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> program.function("add").invoke(new float[4], new float[4]))
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.OUT_OF_RANGE));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"7, %i15", "0, %i6"})
    void argumentsOfDispatchesAreChecked(String what) throws Exception {
        Files.write(directory.resolve("kernel.bin"), VmAssembler.assemble(KERNELS));
        boolean ordinal = what.startsWith("7");
        String text = dynamic(
                "vmvx-bytecode-fb",
                "0riiiiCiDCrIID_v",
                "  %i10 = vm.const.i32 " + (ordinal ? 7 : 0) + "\n  %i20:21 = vm.const.i64 -4",
                "1",
                "%i10, %i15, %i14, %i14, %i18, "
                        + (ordinal ? IN_PLACE : IN_PLACE.replace("%r5, %i16:17", "%r5, %i20:21")));
        try (Program program = load(text)) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> program.function("add").invoke(new float[4], new float[4]))
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.OUT_OF_RANGE));
        }
    }

    @Test
    void anAlignmentOfNoPowerOfTwoIsRefused() {
        String text = HEADER + """
                vm.export @f
                vm.func @f() -> () {
                ^bb0:
                  %i0 = vm.const.i32 3
                  %i2:3 = vm.const.i64 16
                  %r0, %r1 = vm.call @hal_inline.buffer.allocate(%i0, %i2:3)
                  vm.return
                }
                """;
        try (Program program = load(text)) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> program.function("f").invoke())
                    .withMessageContaining("'minimum_alignment' is 3");
        }
    }
}

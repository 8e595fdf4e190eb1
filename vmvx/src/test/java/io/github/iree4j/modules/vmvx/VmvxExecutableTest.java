package io.github.iree4j.modules.vmvx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.loader.ExecutableLoader;
import io.github.iree4j.hal.local.LocalDriverProvider;
import io.github.iree4j.hal.spi.CpuOptions;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.asm.VmAssembler;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ServiceLoader;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** VMVX executables written as text and dispatched on the local device. */
class VmvxExecutableTest {
    private static final String SIGNATURE =
            "(%r0: !vm.buffer, %r1: !vm.buffer, %r2: !vm.list<!vm.buffer>, %i0: i32, %i1: i32, %i2: i32, "
                    + "%i3: i32, %i4: i32, %i5: i32, %i6: i32, %i7: i32, %i8: i32) -> () {\n";

    /** out[x + cx * (y + cy * z)] = x + 10 y + 100 z + constant + specialisation constant, through local memory. */
    private static final String WRITE_IDS = """
            vm.module @kernels version 0
            vm.type !vm.list<!vm.buffer>
            vm.import @vmvx.add.2d.i32 cconv "0rIIIrIIIrIIIII_v"
            vm.global.i32 private mutable @bias

            vm.export @__set_constants
            vm.func @__set_constants(%r0: !vm.buffer) -> () {
            ^bb0:
              %i0:1 = vm.const.i64.zero
              %i2 = vm.buffer.load.i32 %r0, %i0:1
              vm.global.store.i32 %i2, @bias
              vm.return
            }

            vm.export @write_ids
            vm.func @write_ids""" + SIGNATURE + """
              vm.attr "binding_count" = "1"
              vm.attr "constant_count" = "1"
              vm.attr "local_memory" = "64"
            ^bb0:
              %i9 = vm.mul.i32 %i7, %i2
              %i9 = vm.add.i32 %i9, %i1
              %i9 = vm.mul.i32 %i9, %i6
              %i9 = vm.add.i32 %i9, %i0
              %i10 = vm.const.i32 10
              %i11 = vm.mul.i32 %i1, %i10
              %i0 = vm.add.i32 %i0, %i11
              %i10 = vm.const.i32 100
              %i11 = vm.mul.i32 %i2, %i10
              %i0 = vm.add.i32 %i0, %i11
              %i12:13 = vm.const.i64.zero
              %i14:15 = vm.const.i64 1
              %i10 = vm.buffer.load.i32 %r1, %i12:13
              %i0 = vm.add.i32 %i0, %i10
              vm.buffer.store.i32 %i0, %r0, %i12:13
              %i10 = vm.global.load.i32 @bias
              vm.buffer.store.i32 %i10, %r0, %i14:15
              %i10 = vm.const.i32.zero
              %r3 = vm.list.get.ref %r2, %i10 : !vm.buffer
              %i16:17 = vm.ext.i32.i64.s %i9
              vm.call @vmvx.add.2d.i32(%r0, %i12:13, %i14:15, %i14:15, %r0, %i14:15, %i14:15, %i14:15, %r3, %i16:17, %i14:15, %i14:15, %i14:15, %i14:15)
              vm.return
            }
            """;

    private final Device device = new LocalDriverProvider()
            .open(
                    "local",
                    DeviceOptions.builder().with(CpuOptions.DEFAULTS.workers(2)).build());
    private final Arena arena = Arena.ofConfined();

    @AfterEach
    void close() {
        device.close();
        arena.close();
    }

    private Executable load(String text, int... constants) {
        byte[] bytes = VmAssembler.assemble(text);
        MemorySegment data = arena.allocate(bytes.length, 64).copyFrom(MemorySegment.ofArray(bytes));
        return device.createExecutable(new ExecutableParams(VmvxExecutableLoader.FORMAT, data, null, constants));
    }

    private IreeException dispatch(Executable executable, DispatchConfig config, int[] constants, Buffer... bindings) {
        try (TimelineSemaphore timeline = TimelineSemaphore.create(0);
                Fence done = Fence.at(timeline, 1)) {
            device.queue(0).dispatch(null, done, executable, 0, config, constants, BindingTable.of(bindings), 0);
            return catchThrowableOfType(IreeException.class, done::await);
        }
    }

    @Test
    void theLoaderIsFoundAsAService() {
        assertThat(ServiceLoader.load(ExecutableLoader.class)).hasAtLeastOneElementOfType(VmvxExecutableLoader.class);
        assertThat(device.queryI64("hal.executable.format", VmvxExecutableLoader.FORMAT))
                .hasValue(1);
    }

    @Test
    void everyWorkgroupRunsOnceWithItsIdsConstantsAndLocalMemory() {
        try (Executable executable = load(WRITE_IDS, 7000);
                Buffer out = device.allocator().allocate(BufferParams.DEFAULT, 24 * 4)) {
            assertThat(dispatch(executable, DispatchConfig.of(4, 3, 2), new int[] {50_000}, out))
                    .isNull();
            int[] values = out.map(MemoryAccess.READ, 0, Buffer.WHOLE).toArray(ValueLayout.JAVA_INT);
            for (int i = 0; i < 24; i++) {
                assertThat(values[i]).isEqualTo(57_000 + i % 4 + 10 * (i / 4 % 3) + 100 * (i / 12));
            }
        }
    }

    @Test
    void aKernelMayBeTheCompilersOwn() {
        try (Executable executable = load(WRITE_IDS.replace("@write_ids", "@__builtin_splat_i64"), 7000);
                Buffer out = device.allocator().allocate(BufferParams.DEFAULT, 4)) {
            assertThat(executable.lookup("__builtin_splat_i64")).isZero();
            assertThat(dispatch(executable, DispatchConfig.of(1, 1, 1), new int[] {50_000}, out))
                    .isNull();
            assertThat(out.map(MemoryAccess.READ, 0, Buffer.WHOLE).toArray(ValueLayout.JAVA_INT))
                    .containsExactly(57_000);
        }
    }

    @Test
    void exportsHaveTheValuesOfTheirAttributes() {
        try (Executable executable = load(WRITE_IDS, 0)) {
            assertThat(executable.exportCount())
                    .as("__set_constants is not a kernel")
                    .isEqualTo(1);
            ExecutableExport export = executable.export(executable.lookup("write_ids"));
            assertThat(export.bindingCount()).isEqualTo(1);
            assertThat(export.constantCount()).isEqualTo(1);
            assertThat(export.localMemorySize()).isEqualTo(64);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "%R3 | !vm.buffer",
                "%R2 | !vm.list<!vm.buffer>",
                "%R0 | !vm.buffer",
            })
    void memoryOfADispatchCannotBeKeptForLater(String kept, String type) {
        String text = """
                vm.module @kernels version 0
                vm.type !vm.list<!vm.buffer>
                vm.type !vm.buffer
                vm.global.ref private mutable @kept : TYPE

                vm.export @keep
                vm.func @keep""" + SIGNATURE + """
                  vm.attr "binding_count" = "1"
                  vm.attr "constant_count" = "1"
                  vm.attr "local_memory" = "64"
                ^bb0:
                  %i12:13 = vm.const.i64.zero
                  %i10 = vm.buffer.load.i32 %r1, %i12:13
                  %i11 = vm.const.i32.zero
                  vm.cond_br %i10, ^bb1(), ^bb2()
                ^bb1:
                  %r3 = vm.list.get.ref %r2, %i11 : !vm.buffer
                  vm.global.store.ref KEPT, @kept : TYPE
                  vm.return
                ^bb2:
                  %r3 = vm.global.load.ref @kept : TYPE
                  %r4 = vm.const.ref.zero
                  %i0 = vm.cmp.ne.ref %r3, %r4
                  %r3 = vm.list.get.ref %r2, %i11 : !vm.buffer
                  vm.buffer.store.i32 %i0, %r3, %i12:13
                  vm.return
                }
                """.replace("KEPT", kept).replace("TYPE", type);
        try (Executable executable = load(text);
                Buffer out = device.allocator().allocate(BufferParams.DEFAULT, 4)) {
            IreeException failure = dispatch(executable, DispatchConfig.of(1, 1, 1), new int[] {1}, out);
            assertThat(failure.code()).isEqualTo(StatusCode.FAILED_PRECONDITION);
            assertThat(failure).hasMessageContaining("'keep' keeps a binding");
            assertThat(dispatch(executable, DispatchConfig.of(1, 1, 1), new int[] {0}, out))
                    .as("a dispatch without leftovers")
                    .isNull();
            assertThat(out.map(MemoryAccess.READ, 0, 4).get(ValueLayout.JAVA_INT, 0))
                    .as("whether memory is still retained")
                    .isZero();
        }
    }

    @Test
    void aFailingWorkgroupFailsTheDispatchWithItsPlace() {
        try (Executable executable = load(WRITE_IDS, 0);
                Buffer small = device.allocator().allocate(BufferParams.DEFAULT, 8)) {
            IreeException failure = dispatch(executable, DispatchConfig.of(4, 1, 1), new int[] {0}, small);
            assertThat(failure.code()).isEqualTo(StatusCode.OUT_OF_RANGE);
            assertThat(failure).hasMessageContaining("in 'vmvx.add.2d.i32'").hasMessageContaining("write_ids");
            assertThat(dispatch(executable, DispatchConfig.of(2, 1, 1), new int[] {0}, small))
                    .as("the next dispatch")
                    .isNull();
        }
    }

    @Test
    void constantsMustBeGivenExactlyWhenRequired() {
        assertThat(failure(WRITE_IDS)).hasMessageContaining("no constants were given");
        String none = "vm.module @kernels version 0\nvm.export @k\nvm.func @k" + SIGNATURE + "^bb0:\n  vm.return\n}\n";
        assertThat(failure(none, 1, 2)).hasMessageContaining("2 constants were given");
        load(none).close();
    }

    @Test
    void functionsWithAnotherConventionAreRefused() {
        assertThat(
                        failure(
                                "vm.module @kernels version 0\nvm.export @k\nvm.func @k(%i0: i32) -> () {\n^bb0:\n  vm.return\n}\n"))
                .hasMessageContaining("'k' has convention '0i_v'");
    }

    @Test
    void invalidNumbersInAttributesAreRefused() {
        for (String value : new String[] {"-1", "x", "99999999999"}) {
            assertThat(failure("vm.module @kernels version 0\nvm.export @k\nvm.func @k" + SIGNATURE
                            + "  vm.attr \"local_memory\" = \"" + value + "\"\n^bb0:\n  vm.return\n}\n"))
                    .hasMessageContaining("local_memory '" + value + "'");
        }
    }

    @Test
    void dataOfNoModuleIsRefused() {
        IreeException failure = catchThrowableOfType(
                IreeException.class,
                () -> device.createExecutable(
                        new ExecutableParams(VmvxExecutableLoader.FORMAT, arena.allocate(256, 64), null, new int[0])));
        assertThat(failure).hasMessageContaining("VMVX executable");
    }

    private IreeException failure(String text, int... constants) {
        IreeException failure = catchThrowableOfType(IreeException.class, () -> load(text, constants));
        assertThat(failure).isNotNull();
        return failure;
    }
}

package io.github.iree4j.hal.vulkan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.hal.ExecutableLayout;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.spi.VulkanOptions;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.nativeaccess.CacheFile;
import io.github.iree4j.nativeaccess.vulkan.VulkanApi;
import io.github.iree4j.nativeaccess.vulkan.VulkanDeviceRequest;
import io.github.iree4j.nativeaccess.vulkan.VulkanFeature;
import io.github.iree4j.nativeaccess.vulkan.VulkanHandle;
import io.github.iree4j.spirv.SpirvExecutable;
import io.github.iree4j.spirv.SpirvExecutableWriter;
import io.github.iree4j.spirv.SpirvLayout;
import io.github.iree4j.spirv.SpirvLayout.SpirvBinding;
import io.github.iree4j.spirv.SpirvPipeline;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** On the driver of this machine, with validation if installed. */
class VulkanExecutableTest {
    private static VulkanApi api;

    @BeforeAll
    static void open() {
        VulkanDrivers.driver(); // or the tests are skipped
        api = VulkanApi.open(null, true);
    }

    @AfterAll
    static void close() {
        if (api != null) {
            assertThat(api.lastValidationMessages()).isEmpty();
            api.close();
        }
    }

    private static VulkanHandle handle(VulkanFeature... without) {
        List<Integer> families = List.of(0);
        return api.openDevice(0, new VulkanDeviceRequest(families, Set.of(without)));
    }

    private interface Use {
        void use(VulkanCode code) throws Exception;
    }

    private static void withCode(Use use, VulkanFeature... without) {
        VulkanHandle handle = handle(without);
        try (VulkanCode code = new VulkanCode(handle, PipelineCacheFile.OFF)) {
            use.use(code);
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new AssertionError(e);
        } finally {
            handle.close();
        }
        assertThat(handle.liveObjects()).as("left of %s", VulkanApi.KINDS).containsOnly(0);
    }

    private static VulkanExecutable load(VulkanCode code, ExecutableParams params) {
        return VulkanExecutable.load(code, params);
    }

    @Test
    void describesItsExports() {
        withCode(code -> {
            try (VulkanExecutable executable =
                    load(code, SpirvExecutables.specialized(new int[] {8, 4}, "add", "scale", "sized", "sum"))) {
                assertThat(executable.format()).isEqualTo("vulkan-spirv-fb");
                assertThat(executable.exportCount()).isEqualTo(4);
                assertThat(executable.lookup("scale")).isOne();
                assertThat(executable.export(0)).isEqualTo(new ExecutableExport("add", 0, 0, 3, 4, 1, 1, 0));
                assertThat(executable.export(1)).isEqualTo(new ExecutableExport("scale", 0, 3, 2, 64, 1, 1, 0));
                assertThat(executable.export(2)).isEqualTo(new ExecutableExport("sized", 0, 0, 1, 8, 4, 1, 0));
                assertThat(executable.export(3)).isEqualTo(new ExecutableExport("sum", 0, 0, 2, 64, 1, 1, 256));
                assertThatThrownBy(() -> executable.lookup("main"))
                        .hasMessageContaining("has no export 'main'; it has 4: add, scale, sized, sum");
                assertThatThrownBy(() -> executable.export(4)).hasMessageContaining("export 4");
            }
        });
    }

    @Test
    void loadsExecutablesWithAddresses() {
        withCode(code -> {
            assumeTrue(code.handle().has(VulkanFeature.BUFFER_DEVICE_ADDRESS), "the device has no buffer addresses");
            try (VulkanExecutable executable = load(code, SpirvExecutables.addresses())) {
                assertThat(executable.export(0)).isEqualTo(new ExecutableExport("bda_scale", 0, 2, 2, 64, 1, 1, 0));
                assertThat(executable.kernel(0).addresses()).isNotNull();
            }
        });
    }

    @Test
    void takesLayoutsOfTheProgramWhereTheExecutableHasNone() {
        byte[] old = SpirvExecutables.packOld("add");
        withCode(code -> {
            ExecutableLayout given = new ExecutableLayout(2, List.of(List.of(0, 1, 2, 5)));
            ExecutableParams params = new ExecutableParams(
                    "vulkan-spirv-fb", MemorySegment.ofArray(old), null, new int[0], List.of(given));
            try (VulkanExecutable executable = load(code, params)) {
                assertThat(executable.export(0)).isEqualTo(new ExecutableExport("add", 0, 2, 4, 4, 1, 1, 0));
            }
            try (VulkanExecutable executable =
                    load(code, new ExecutableParams("vulkan-spirv-fb", MemorySegment.ofArray(old)))) {
                assertThat(executable.export(0)).isEqualTo(new ExecutableExport("add", 0, 0, 3, 4, 1, 1, 0));
            }
            ExecutableParams without = new ExecutableParams(
                    "vulkan-spirv-fb",
                    MemorySegment.ofArray(old),
                    null,
                    new int[0],
                    List.of(new ExecutableLayout(0, List.of(List.of(0, 2)))));
            assertRefused(
                    code,
                    without,
                    StatusCode.INVALID_ARGUMENT,
                    "export 'add' uses binding 1 of set 0, which its layout does not have");
            ExecutableParams two = new ExecutableParams(
                    "vulkan-spirv-fb", MemorySegment.ofArray(old), null, new int[0], List.of(given, given));
            assertRefused(code, two, StatusCode.FAILED_PRECONDITION, "has 1 exports and the program gives 2 layouts");
        });
    }

    @ParameterizedTest
    @CsvSource({
        "bytes, SHADER_INT8, shaderInt8, Int8",
        "bytes, STORAGE_BUFFER_8BIT, storageBuffer8BitAccess, StorageBuffer8BitAccess",
        "bytes, STORAGE_BUFFER_16BIT, storageBuffer16BitAccess, StorageBuffer16BitAccess",
        "doubles, SHADER_FLOAT64, shaderFloat64, Float64",
        "bda_scale, SHADER_INT64, shaderInt64, Int64",
        "bda_scale, BUFFER_DEVICE_ADDRESS, bufferDeviceAddress, PhysicalStorageBufferAddresses"
    })
    void namesTheFeatureMissingInTheDevice(String kernel, VulkanFeature missing, String feature, String capability) {
        withCode(
                code -> assertRefused(
                        code,
                        SpirvExecutables.params(kernel),
                        StatusCode.INCOMPATIBLE,
                        "lacks feature '%s', which capability %s of the module needs".formatted(feature, capability)),
                missing);
    }

    @Test
    void refusesUnknownCapabilitiesAndExtensions() {
        withCode(code -> {
            assertRefused(code, patched("add", 6, 4999), StatusCode.INCOMPATIBLE, "capability 4999 of the module");
            byte[] bytes = SpirvExecutables.module("bytes");
            int at = new String(bytes, java.nio.charset.StandardCharsets.ISO_8859_1).indexOf("SPV_KHR_8bit");
            bytes[at + 8] = 'X';
            assertRefused(
                    code, params(bytes), StatusCode.INCOMPATIBLE, "extension 'SPV_KHR_Xbit_storage' of the module");
        });
    }

    @Test
    void refusesSizesGivenByConstants() {
        withCode(code -> assertRefused(
                code,
                new ExecutableParams(
                        "vulkan-spirv-fb",
                        MemorySegment.ofArray(SpirvExecutables.packModules(SpirvExecutables.sizedById()))),
                StatusCode.INCOMPATIBLE,
                "without feature 'maintenance4', which execution mode LocalSizeId of export 'sized' needs"));
    }

    @Test
    void refusesExcessOverTheLimitsOfTheDevice() {
        withCode(code -> {
            long limit = code.handle().properties().limits().maxComputeWorkGroupInvocations();
            assertRefused(
                    code,
                    SpirvExecutables.specialized(new int[] {(int) limit, 2}, "sized"),
                    StatusCode.OUT_OF_RANGE,
                    "has %d invocations of a workgroup, the limit of device".formatted(2 * limit));
            assertRefused(
                    code,
                    SpirvExecutables.specialized(new int[] {Integer.MAX_VALUE, 2}, "sized"),
                    StatusCode.OUT_OF_RANGE,
                    "has 2147483647 invocations of a workgroup along x");
            assertRefused(
                    code,
                    SpirvExecutables.specialized(new int[2000], "add"),
                    StatusCode.OUT_OF_RANGE,
                    "2000 specialisation constants exceed the limit of 1024");
        });
    }

    @Test
    void refusesSubgroupSizesMissingInTheDevice() {
        withCode(code -> assertRefused(
                code,
                SpirvExecutables.withSubgroupSize(3, "subgroup_sum"),
                StatusCode.INCOMPATIBLE,
                "export 'subgroup_sum' needs 3"));
        withCode(
                code -> assertRefused(
                        code,
                        SpirvExecutables.withSubgroupSize(4096, "subgroup_sum"),
                        StatusCode.INCOMPATIBLE,
                        "lacks feature 'subgroupSizeControl', which export 'subgroup_sum' needs for subgroups of 4096"),
                VulkanFeature.SUBGROUP_SIZE_CONTROL);
    }

    @Test
    void refusesLayoutsUnsuitableForTheCode() {
        SpirvBinding storage = new SpirvBinding(0, 7, 1);
        withCode(code -> {
            assertRefused(
                    code,
                    withLayout("gather", new SpirvLayout(List.of(List.of(storage)), 0)),
                    StatusCode.INVALID_ARGUMENT,
                    "uses binding 0 of set 0 as a uniform buffer, its layout has a storage buffer there");
            assertRefused(
                    code,
                    withLayout(
                            "gather",
                            new SpirvLayout(List.of(List.of(new SpirvBinding(0, 6, 1), new SpirvBinding(1, 7, 1))), 0)),
                    StatusCode.INVALID_ARGUMENT,
                    "uses 2 buffers of binding 1 of set 0, its layout has 1");
            assertRefused(
                    code,
                    withLayout("scale", new SpirvLayout(List.of(List.of(storage, new SpirvBinding(1, 7, 1))), 8)),
                    StatusCode.INVALID_ARGUMENT,
                    "export 'scale' reads 12 bytes of push constants, its layout has 8");
        });
    }

    @Test
    void refusesCodeWithDescriptorsWhereAddressesAreSaidToBePassed() {
        withCode(code -> {
            assumeTrue(code.handle().has(VulkanFeature.BUFFER_DEVICE_ADDRESS), "the device has no buffer addresses");
            MemorySegment data = MemorySegment.ofArray(SpirvExecutables.packAddresses("add", 0, 3));
            assertRefused(
                    code,
                    new ExecutableParams(SpirvExecutables.ADDRESSES, data),
                    StatusCode.INVALID_ARGUMENT,
                    "export 'add' uses binding 0 of set 0, which its layout does not have");
        });
    }

    @Test
    void refusesAFormatOtherThanTheCodes() {
        withCode(code -> assertRefused(
                code,
                new ExecutableParams("vulkan-spirv-bda-v1", MemorySegment.ofArray(SpirvExecutables.pack("add"))),
                StatusCode.INVALID_ARGUMENT,
                "export 'add' is of format 'vulkan-spirv-fb', the executable is said to be of 'vulkan-spirv-bda-v1'"));
    }

    @Test
    void keepsCompiledCodeForTheNextTime(@TempDir Path directory) throws Exception {
        VulkanHandle handle = handle();
        try {
            try (VulkanCode code = new VulkanCode(handle, directory.toString())) {
                assertThat(code.restoredBytes()).isZero();
                load(code, SpirvExecutables.params("add")).close();
            }
            Path file = onlyFile(directory);
            assertThat(file.getFileName().toString())
                    .matches("vulkan-[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{32}\\.cache");
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                    .endsWith("------");
            byte[] kept = Files.readAllBytes(file);
            try (VulkanCode code = new VulkanCode(handle, directory.toString())) {
                assertThat(code.restoredBytes()).isEqualTo(kept.length - 56);
                load(code, SpirvExecutables.params("add")).close();
            }
            // Nothing was compiled, so nothing is written.
            try (VulkanCode code = new VulkanCode(handle, directory.toString())) {
                Files.delete(file);
                assertThat(code.restoredBytes()).isPositive();
            }
            assertThat(file).doesNotExist();
        } finally {
            handle.close();
        }
    }

    @Test
    void ignoresDamagedCaches(@TempDir Path directory) throws Exception {
        VulkanHandle handle = handle();
        try {
            try (VulkanCode code = new VulkanCode(handle, directory.toString())) {
                load(code, SpirvExecutables.params("add")).close();
            }
            Path file = onlyFile(directory);
            byte[] good = Files.readAllBytes(file);
            byte[] flipped = good.clone();
            flipped[good.length - 1] ^= 1;
            byte[] magic = good.clone();
            magic[0] ^= 1;
            byte[][] damaged = {
                flipped, magic, Arrays.copyOf(good, good.length / 2), Arrays.copyOf(good, 3), new byte[0]
            };
            for (byte[] bytes : damaged) {
                Files.write(file, bytes);
                try (VulkanCode code = new VulkanCode(handle, directory.toString())) {
                    assertThat(code.restoredBytes()).isZero();
                    load(code, SpirvExecutables.params("add")).close();
                }
                try (VulkanCode code = new VulkanCode(handle, directory.toString())) {
                    assertThat(code.restoredBytes()).as("written anew").isPositive();
                }
            }
            // A file of another driver, with a valid checksum.
            CacheFile other = PipelineCacheFile.of(handle.properties(), directory.toString());
            byte[] data = other.read();
            assertThat(data).isNotNull();
            data[16] ^= 1;
            other.write(data);
            try (VulkanCode code = new VulkanCode(handle, directory.toString())) {
                assertThat(code.restoredBytes()).isZero();
            }
        } finally {
            handle.close();
        }
    }

    @Test
    void doesNotUseACacheWritableByOthers(@TempDir Path parent) throws Exception {
        Path directory = Files.createDirectory(parent.resolve("shared"));
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwxrwx"));
        VulkanHandle handle = handle();
        try {
            try (VulkanCode code = new VulkanCode(handle, directory.toString())) {
                load(code, SpirvExecutables.params("add")).close();
            }
            Path own = directory.resolve("iree4j-" + System.getProperty("user.name"));
            assertThat(own).as("a private directory inside").isDirectory();
            Files.move(onlyFile(own), directory.resolve(onlyFile(own).getFileName()));
            try (VulkanCode code = new VulkanCode(handle, directory.toString())) {
                assertThat(code.restoredBytes()).isZero();
            }
        } finally {
            handle.close();
        }
    }

    @Test
    void keepsNothingWhenTurnedOff() {
        withCode(code -> {
            assertThat(code.restoredBytes()).isZero();
            load(code, SpirvExecutables.params("add")).close();
        });
    }

    /** Damaged modules past the checks are not given to the driver here; see {@code SpirvModuleTest}. */
    @Test
    void damagedModulesNeverReachTheDriver() {
        withCode(code -> {
            byte[] add = SpirvExecutables.module("add");
            for (int words = 0; words < add.length / 4; words++) {
                byte[] cut = Arrays.copyOf(add, 4 * words);
                assertThatThrownBy(() -> load(code, params(cut))).isInstanceOf(IreeException.class);
            }
        });
    }

    @Test
    void aDeviceNamesItsFormats(@TempDir Path directory) {
        DeviceOptions.Builder options =
                DeviceOptions.builder().with(VulkanOptions.DEFAULTS.compiledCode(directory.toString()));
        try (StreamDevice device = VulkanDrivers.open(options)) {
            assertThat(device.queryI64("hal.executable.format", "vulkan-spirv-fb"))
                    .hasValue(1);
            boolean takesAddresses = VulkanDrivers.handle(device).has(VulkanFeature.BUFFER_DEVICE_ADDRESS);
            assertThat(device.queryI64("hal.executable.format", SpirvExecutables.ADDRESSES))
                    .hasValue(takesAddresses ? 1 : 0);
            assertThat(device.queryI64("hal.executable.format", "embedded-elf-x86_64"))
                    .hasValue(0);
            device.createExecutable(SpirvExecutables.params("add")).close();
            assertThatThrownBy(() -> device.createExecutable(
                            new ExecutableParams("embedded-elf-x86_64", MemorySegment.ofArray(new byte[64]))))
                    .isInstanceOf(IreeException.class)
                    .hasMessageContaining(
                            "cannot run executables of format 'embedded-elf-x86_64', it runs vulkan-spirv-fb")
                    .extracting(e -> ((IreeException) e).code())
                    .isEqualTo(StatusCode.INCOMPATIBLE);
        }
        assertThat(directory).isNotEmptyDirectory();
        DeviceOptions.Builder limited = DeviceOptions.builder()
                .with(VulkanOptions.DEFAULTS.compiledCode("off"))
                .executableFormats(List.of("vulkan-spirv-bda-v1"));
        try (StreamDevice device = VulkanDrivers.open(limited)) {
            assertThat(device.queryI64("hal.executable.format", "vulkan-spirv-fb"))
                    .hasValue(0);
            assertThatThrownBy(() -> device.createExecutable(SpirvExecutables.params("add")))
                    .hasMessageContaining("may not run executables of format 'vulkan-spirv-fb'");
        }
    }

    private static Path onlyFile(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            List<Path> found = files.toList();
            assertThat(found).hasSize(1);
            return found.getFirst();
        }
    }

    private static ExecutableParams withLayout(String kernel, SpirvLayout layout) {
        return new ExecutableParams(
                "vulkan-spirv-fb",
                MemorySegment.ofArray(SpirvExecutableWriter.write(new SpirvExecutable(
                        List.of(new SpirvPipeline(kernel, kernel, 0, 0, layout, null)),
                        List.of(MemorySegment.ofArray(SpirvExecutables.module(kernel)))))));
    }

    /** An executable of export 'add', of any module. */
    private static ExecutableParams params(byte[] module) {
        SpirvLayout layout = new SpirvLayout(
                List.of(List.of(new SpirvBinding(0, 7, 1), new SpirvBinding(1, 7, 1), new SpirvBinding(2, 7, 1))), 0);
        return new ExecutableParams(
                "vulkan-spirv-fb",
                MemorySegment.ofArray(SpirvExecutableWriter.write(new SpirvExecutable(
                        List.of(new SpirvPipeline("add", "add", 0, 0, layout, null)),
                        List.of(MemorySegment.ofArray(module))))));
    }

    private static ExecutableParams patched(String kernel, int word, int value) {
        byte[] module = SpirvExecutables.module(kernel);
        ByteBuffer.wrap(module).order(ByteOrder.LITTLE_ENDIAN).putInt(4 * word, value);
        return params(module);
    }

    private static void assertRefused(VulkanCode code, ExecutableParams params, StatusCode status, String message) {
        assertThatThrownBy(() -> load(code, params))
                .isInstanceOf(IreeException.class)
                .hasMessageContaining(message)
                .extracting(e -> ((IreeException) e).code())
                .isEqualTo(status);
    }
}

package io.github.iree4j.spirv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.iree4j.hal.vulkan.SpirvExecutables;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.File;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SpirvModuleTest {
    private static final List<String> KERNELS = List.of(
            "add",
            "scale",
            "mark",
            "sized",
            "increment",
            "count",
            "sum",
            "subgroup_sum",
            "bytes",
            "doubles",
            "gather",
            "bda_scale");

    private static SpirvModule read(byte[] module, int... constants) {
        return SpirvModule.read(MemorySegment.ofArray(module), constants);
    }

    private static SpirvEntryPoint entry(String kernel, int... constants) {
        return read(SpirvExecutables.module(kernel), constants).entryPoint(kernel);
    }

    @Test
    void tellsBuffersBySetAndBindingAndTheWrittenBuffers() {
        assertThat(entry("add").resources())
                .containsExactly(
                        new SpirvResource(0, 0, SpirvResource.STORAGE_BUFFER, 1, false),
                        new SpirvResource(0, 1, SpirvResource.STORAGE_BUFFER, 1, false),
                        new SpirvResource(0, 2, SpirvResource.STORAGE_BUFFER, 1, true));
        assertThat(entry("gather").resources())
                .containsExactly(
                        new SpirvResource(0, 0, SpirvResource.UNIFORM_BUFFER, 1, false),
                        new SpirvResource(0, 1, SpirvResource.STORAGE_BUFFER, 2, false),
                        new SpirvResource(1, 3, SpirvResource.STORAGE_BUFFER, 1, true));
    }

    @Test
    void targetsOfAtomicsAndNarrowStoresAreWritten() {
        assertThat(entry("count").resources())
                .extracting(SpirvResource::isWritten)
                .containsExactly(true);
        assertThat(entry("bytes").resources())
                .extracting(SpirvResource::isWritten)
                .containsExactly(false, true, true);
    }

    @Test
    void tellsPushConstants() {
        assertThat(entry("add").pushConstantBytes()).isZero();
        assertThat(entry("scale").pushConstantBytes()).isEqualTo(12);
        assertThat(entry("bda_scale").pushConstantBytes()).isEqualTo(40);
    }

    @Test
    void tellsWorkgroupMemory() {
        assertThat(entry("add").workgroupBytes()).isZero();
        assertThat(entry("sum").workgroupBytes()).isEqualTo(4 * 64);
    }

    @Test
    void tellsWorkgroupSizesAsSpecialised() {
        assertThat(size(entry("scale"))).containsExactly(64, 1, 1);
        assertThat(size(entry("sized"))).containsExactly(1, 1, 1);
        assertThat(size(entry("sized", 8, 4))).containsExactly(8, 4, 1);
    }

    private static int[] size(SpirvEntryPoint entry) {
        return new int[] {entry.workgroupSizeX(), entry.workgroupSizeY(), entry.workgroupSizeZ()};
    }

    @Test
    void tellsCapabilitiesAndExtensions() {
        SpirvModule bytes = read(SpirvExecutables.module("bytes"));
        assertThat(bytes.capabilities()).contains(1, 22, 39, 4433, 4448);
        assertThat(bytes.extensions()).containsExactly("SPV_KHR_8bit_storage");
        assertThat(bytes.version()).isEqualTo(0x10300);
    }

    @Test
    void namesTheEntryPointsThereAre() {
        assertThatThrownBy(() -> read(SpirvExecutables.module("add")).entryPoint("main"))
                .isInstanceOf(IreeException.class)
                .hasMessage("SPIR-V module has no compute entry point 'main', it has 1: add");
    }

    @Test
    void namesTheDamage() {
        assertDamaged(new byte[0], "it has 0 bytes");
        assertDamaged(new byte[22], "it has 22 bytes");
        assertDamaged(patched("add", 0, 0x1234), "begins with 0x00001234 where 0x07230203 is wanted");
        assertDamaged(patched("add", 0, 0x03022307), "big-endian");
        assertDamaged(patched("add", 3, 0), "bounded by 0, the limit is 4194303");
        assertDamaged(patched("add", 3, -1), "bounded by 4294967295");
        assertDamaged(patched("add", 3, 2), "the bound is 2");
        assertDamaged(patched("add", 4, 7), "its schema is 7");
        assertDamaged(patched("add", 5, 17), "instruction 17 at word 5 has 0 words");
        assertDamaged(patched("add", 5, 0xFFFF_0011), "instruction 17 at word 5 has 65535 words");
        byte[] add = SpirvExecutables.module("add");
        assertDamaged(Arrays.copyOf(add, add.length - 4), "its last function does not end");
        assertDamaged(Arrays.copyOf(add, 20), "it has no memory model");
    }

    @Test
    void doesNotReadNewerVersions() {
        assertThatThrownBy(() -> read(patched("add", 1, 0x10700)))
                .isInstanceOf(IreeException.class)
                .hasMessageContaining("version word 0x00010700; versions 1.0 to 1.6")
                .extracting(e -> ((IreeException) e).code())
                .isEqualTo(StatusCode.UNIMPLEMENTED);
    }

    @Test
    void refusesAnEntryPointWithoutItsFunction() {
        int at = find(SpirvExecutables.module("add"), SpirvOp.ENTRY_POINT);
        assertDamaged(patched("add", at + 2, 1), "entry point 'add' at word " + at + " is function 1");
    }

    private static final int[] LOGICAL = {3 << 16 | SpirvOp.MEMORY_MODEL, 0, 1};
    private static final int[] SIZE = {6 << 16 | SpirvOp.EXECUTION_MODE, 3, 17, 4, 5, 6};

    /** Function 3, without work. */
    private static final int[] BODY = {
        2 << 16 | 19,
        1,
        3 << 16 | 33,
        2,
        1,
        5 << 16 | SpirvOp.FUNCTION,
        1,
        3,
        0,
        2,
        2 << 16 | 248,
        4,
        1 << 16 | 253,
        1 << 16 | SpirvOp.FUNCTION_END
    };

    private static int[] entryPoint(int model, int... name) {
        int[] words = new int[3 + name.length];
        words[0] = words.length << 16 | SpirvOp.ENTRY_POINT;
        words[1] = model;
        words[2] = 3;
        System.arraycopy(name, 0, words, 3, name.length);
        return words;
    }

    private static byte[] assemble(int[]... instructions) {
        int[] header = {0x0723_0203, 0x10300, 0, 8, 0};
        int[] words = Stream.concat(Stream.of(header), Arrays.stream(instructions))
                .flatMapToInt(Arrays::stream)
                .toArray();
        return MemorySegment.ofArray(words).toArray(ValueLayout.JAVA_BYTE);
    }

    @Test
    void findsEveryEntryPointForCompute() {
        byte[] module = assemble(LOGICAL, entryPoint(5, 'a'), entryPoint(0, 'v'), entryPoint(5, 'b'), SIZE, BODY);
        assertThat(read(module).entryPoints()).extracting(SpirvEntryPoint::name).containsExactly("a", "b");
        assertThat(size(read(module).entryPoint("b"))).containsExactly(4, 5, 6);
    }

    @Test
    void refusesTruncatedOrDuplicateEntryPoints() {
        int[] main = entryPoint(5, 0x6E69616D, 0);
        assertDamaged(assemble(LOGICAL, entryPoint(5), SIZE, BODY), "the string of instruction 15 at word 8");
        assertDamaged(
                assemble(LOGICAL, entryPoint(5, 0x6E69616D), SIZE, BODY), "the string of instruction 15 at word 8");
        assertDamaged(assemble(LOGICAL, main, main, SIZE, BODY), "entry point 'main' is declared twice");
        assertDamaged(
                assemble(LOGICAL, main, SIZE, SIZE, BODY),
                "the size of workgroups of function 3 is declared twice, again at word 19");
        assertDamaged(
                assemble(LOGICAL, main, new int[] {5 << 16 | SpirvOp.EXECUTION_MODE, 3, 17, 4, 5}, BODY),
                "instruction 16 at word 13 has 5 words, which is too short");
    }

    @Test
    void memoryModelsMatchVulkanWithTheirCapabilities() {
        int[] physical = {2 << 16 | SpirvOp.CAPABILITY, 5347};
        int[] vulkan = {2 << 16 | SpirvOp.CAPABILITY, 5345};
        int[] both = {3 << 16 | SpirvOp.MEMORY_MODEL, 5348, 3};
        assertThat(read(assemble(physical, vulkan, both)).capabilities()).containsExactlyInAnyOrder(5345, 5347);
        assertDamaged(assemble(physical, both), "5348 and memory model 3 at word 7 need a capability");
        assertDamaged(assemble(vulkan, both), "need a capability that is not declared");
        assertDamaged(
                assemble(physical, new int[] {3 << 16 | SpirvOp.MEMORY_MODEL, 5348, 2}),
                "addressing model 5348 and memory model 2 at word 7 are not of Vulkan");
        assertDamaged(assemble(new int[] {3 << 16 | SpirvOp.MEMORY_MODEL, 1, 1}), "are not of Vulkan");
    }

    @Test
    void refusesWorkgroupsOfNothing() {
        int at = find(SpirvExecutables.module("count"), SpirvOp.EXECUTION_MODE);
        byte[] module = SpirvExecutables.module("count");
        // The decorated constant takes precedence over the mode, so both must be empty.
        ByteBuffer words = ByteBuffer.wrap(module).order(ByteOrder.LITTLE_ENDIAN);
        words.putInt(4 * (at + 3), 0);
        for (int i = 5; i < module.length / 4; i += words.getInt(4 * i) >>> 16) {
            if ((words.getInt(4 * i) & 0xFFFF) == SpirvOp.DECORATE && words.getInt(4 * i + 8) == 11) {
                words.putInt(4 * i + 12, 24); // no longer the size of workgroups
            }
        }
        assertDamaged(module, "declares workgroups of [0, 1, 1]");
    }

    @Test
    void tellsWorkgroupSizesGivenByConstants() {
        byte[] module = SpirvExecutables.sizedById();
        SpirvEntryPoint entry = read(module, 8, 4).entryPoint("sized");
        assertThat(size(entry)).containsExactly(8, 4, 1);
        assertThat(entry.sizedById()).isTrue();
        assertThat(entry("sized").sizedById()).isFalse();
    }

    /** Reading arbitrary bytes ends with a module or a status. */
    @ParameterizedTest
    @ValueSource(strings = {"add", "scale", "sized", "sum", "gather", "bda_scale"})
    void readsDamagedModulesWithoutHarm(String kernel) {
        long seed = Long.getLong("iree4j.test.seed", System.nanoTime());
        Random random = new Random(seed);
        byte[] original = SpirvExecutables.module(kernel);
        int refused = 0;
        int rounds = 4000;
        for (int round = 0; round < rounds; round++) {
            byte[] module = original.clone();
            for (int n = 1 + random.nextInt(4); n > 0; n--) {
                int at = random.nextInt(module.length / 4) * 4;
                int value = switch (random.nextInt(4)) {
                    case 0 -> random.nextInt();
                    case 1 -> random.nextInt(64);
                    case 2 ->
                        ByteBuffer.wrap(original).order(ByteOrder.LITTLE_ENDIAN).getInt(at) ^ 1 << random.nextInt(32);
                    default ->
                        ByteBuffer.wrap(original)
                                .order(ByteOrder.LITTLE_ENDIAN)
                                .getInt(random.nextInt(original.length / 4) * 4);
                };
                ByteBuffer.wrap(module).order(ByteOrder.LITTLE_ENDIAN).putInt(at, value);
            }
            if (random.nextInt(8) == 0) {
                module = Arrays.copyOf(module, random.nextInt(module.length));
            }
            try {
                read(module, random.nextInt(100), random.nextInt());
            } catch (IreeException e) {
                refused++;
            } catch (RuntimeException | StackOverflowError e) {
                throw new AssertionError("seed " + seed + ", round " + round, e);
            }
        }
        assertThat(refused).as("refused of %d, seed %d", rounds, seed).isBetween(rounds / 10, rounds - 1);
    }

    /** The compiled kernels match their sources. */
    @Tag("nightly")
    @Test
    void kernelsAreCurrent(@TempDir Path directory) throws Exception {
        Path compiler = Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
                .map(each -> Path.of(each, "glslangValidator"))
                .filter(Files::isExecutable)
                .findFirst()
                .orElse(null);
        assumeTrue(compiler != null, "glslangValidator is not installed");
        Path sources = Path.of("src/test/resources/vulkan");
        for (String kernel : KERNELS) {
            Path output = directory.resolve(kernel + ".spv");
            Process process = new ProcessBuilder(
                            compiler.toString(),
                            "--target-env",
                            "vulkan1.1",
                            "-Os",
                            "-e",
                            kernel,
                            "--source-entrypoint",
                            "main",
                            "-o",
                            output.toString(),
                            sources.resolve(kernel + ".comp").toString())
                    .redirectErrorStream(true)
                    .start();
            String text = new String(process.getInputStream().readAllBytes());
            assertThat(process.waitFor()).as(text).isZero();
            byte[] compiled = Files.readAllBytes(output);
            byte[] checkedIn = SpirvExecutables.module(kernel);
            // Another compiler version may number identifiers differently; the used resources are the same.
            if (!Arrays.equals(Arrays.copyOf(compiled, 12), Arrays.copyOf(checkedIn, 12))) {
                assertThat(read(compiled)).as(kernel).isEqualTo(read(checkedIn));
            } else {
                assertThat(compiled)
                        .as("%s.spv is not made of %s.comp", kernel, kernel)
                        .isEqualTo(checkedIn);
            }
        }
    }

    private static int find(byte[] module, int op) {
        ByteBuffer words = ByteBuffer.wrap(module).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 5; i < module.length / 4; i += words.getInt(4 * i) >>> 16) {
            if ((words.getInt(4 * i) & 0xFFFF) == op) {
                return i;
            }
        }
        throw new AssertionError("no instruction " + op);
    }

    private static byte[] patched(String kernel, int word, int value) {
        byte[] module = SpirvExecutables.module(kernel);
        ByteBuffer.wrap(module).order(ByteOrder.LITTLE_ENDIAN).putInt(4 * word, value);
        return module;
    }

    private static void assertDamaged(byte[] module, String message) {
        assertThatThrownBy(() -> read(module))
                .isInstanceOf(IreeException.class)
                .hasMessageContaining(message)
                .extracting(e -> ((IreeException) e).code())
                .isEqualTo(StatusCode.INVALID_ARGUMENT);
    }
}

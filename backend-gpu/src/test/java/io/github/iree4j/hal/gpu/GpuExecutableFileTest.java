package io.github.iree4j.hal.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.Fixtures;
import io.github.iree4j.flatbuffer.ExecutableHeader;
import io.github.iree4j.flatbuffer.FlatBufferWriter.Table;
import io.github.iree4j.hal.gpu.GpuExecutableFile.Export;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.bytecode.ModuleDef;
import io.github.iree4j.vm.bytecode.ModuleLimits;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class GpuExecutableFileTest {
    private static final byte[] PTX = GpuExecutables.ptx();
    private static final int[] BLOCK = {64, 2, 1};

    private static GpuExecutableFile read(byte[] data, String format) {
        return GpuExecutableFile.read(MemorySegment.ofArray(data), format);
    }

    private static byte[] pack(Table... kernels) {
        return GpuExecutables.pack(GpuExecutables.CUDA, List.of(kernels), PTX);
    }

    @Test
    void readsTheOutputOfCompilers() {
        byte[] elf = GpuExecutables.elf(224, 4, 0x3F);
        byte[] data = GpuExecutables.pack(
                GpuExecutables.HIP,
                List.of(
                        GpuExecutables.kernel("first", 3, new long[] {1, 0, 3})
                                .u32(0, 1)
                                .struct(2, 64, 2, 3)
                                .u32(3, 512),
                        GpuExecutables.kernel("second", 0, 0)),
                PTX,
                elf);
        for (int header : new int[] {0, ExecutableHeader.BYTES}) {
            GpuExecutableFile file = read(Arrays.copyOfRange(data, header, data.length), GpuExecutableFile.HIP);
            assertThat(file.modules()).extracting(GpuImage::kind).containsExactly(GpuImage.Kind.PTX, GpuImage.Kind.ELF);
            assertThat(file.modules().get(1).bytes().mismatch(MemorySegment.ofArray(elf)))
                    .isEqualTo(-1);
            assertThat(file.exports()).extracting(Export::name).containsExactly("first", "second");
            Export first = file.exports().get(0);
            assertThat(first.module()).isOne();
            assertThat(first.blockX()).isEqualTo(64);
            assertThat(first.blockY()).isEqualTo(2);
            assertThat(first.blockZ()).isEqualTo(3);
            assertThat(first.sharedBytes()).isEqualTo(512);
            assertThat(first.constantCount()).isEqualTo(3);
            assertThat(first.bindingCount()).isEqualTo(3);
            assertThat(first.bindingFlags()).containsExactly(GpuExecutableFile.READ_ONLY, 0, 3);
            assertThat(file.exports().get(1).bindingFlags()).isEmpty();
        }
    }

    @Test
    void readsTheOldForms() {
        byte[] untilFebruary2022 = GpuExecutables.packOld("CUDA", "add", BLOCK, -1, PTX);
        byte[] untilAugust2024 = GpuExecutables.packOld("CUDA", "add", BLOCK, 48, PTX);
        byte[] untilOctober2023 = GpuExecutables.packOld("ROCM", "add", BLOCK, -1, GpuExecutables.elf(224, 1, 0x3F));
        byte[] ofAugust2024 = GpuExecutables.packOld("HIPE", "add", BLOCK, 48, GpuExecutables.elf(224, 4, 0x3F));
        assertOld(read(untilFebruary2022, GpuExecutableFile.CUDA), 0);
        assertOld(read(untilAugust2024, GpuExecutableFile.CUDA), 48);
        assertOld(read(untilOctober2023, GpuExecutableFile.HIP), 0);
        assertOld(read(ofAugust2024, GpuExecutableFile.HIP), 48);
    }

    private static void assertOld(GpuExecutableFile file, int shared) {
        assertThat(file.modules()).hasSize(1);
        assertThat(file.exports())
                .containsExactly(new Export(
                        "add", 0, 64, 2, 1, shared, GpuExecutableFile.UNDECLARED, GpuExecutableFile.UNDECLARED, null));
    }

    /** Compilers until August 2024 wrote the image without the NUL expected by drivers. */
    @Test
    void copiesOfImagesEndWithNul() {
        byte[] image = Arrays.copyOf("// Text".getBytes(StandardCharsets.US_ASCII), 8);
        image[7] = '\n';
        GpuExecutableFile file = read(GpuExecutables.packOld("CUDA", "add", BLOCK, 0, image), GpuExecutableFile.CUDA);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment copy = file.modules().getFirst().copy(arena);
            assertThat(copy.getString(0)).isEqualTo("// Text\n");
            assertThat(copy.byteSize()).isEqualTo(9);
            assertThat(copy.address() % 16).isZero();
        }
    }

    @Test
    void namesTheTargetOfImages() {
        assertThat(architecture(PTX)).isEqualTo("sm_75");
        assertThat(architecture(".version 8.0 // .target sm_20\n.target\tsm_90a, debug\n".getBytes()))
                .isEqualTo("sm_90a");
        assertThat(architecture("// nothing".getBytes())).isEmpty();
        assertThat(architecture(GpuExecutables.elf(190, 7, 0x4B_0550))).isEqualTo("sm_80");
        assertThat(architecture(GpuExecutables.elf(190, 7, 0x4B_0D5A))).isEqualTo("sm_90a");
        assertThat(architecture(GpuExecutables.elf(190, 8, 0x0600_5904))).isEqualTo("sm_89");
        assertThat(architecture(GpuExecutables.elf(190, 8, 0x0600_6402))).isEqualTo("sm_100");
        assertThat(architecture(GpuExecutables.elf(224, 1, 0x53F))).isEqualTo("gfx90a");
        assertThat(architecture(GpuExecutables.elf(224, 2, 0x53F))).isEqualTo("gfx90a");
        assertThat(architecture(GpuExecutables.elf(224, 3, 0xE3F))).isEqualTo("gfx90a:sramecc+:xnack-");
        assertThat(architecture(GpuExecutables.elf(224, 4, 0x4C))).isEqualTo("gfx942");
        assertThat(architecture(GpuExecutables.elf(224, 4, 0x5F))).isEqualTo("gfx9-4-generic");
        assertThat(architecture(GpuExecutables.elf(224, 4, 0x20))).isEqualTo("gfx600");
        assertThat(architecture(GpuExecutables.elf(224, 4, 0x32))).isEqualTo("gfx90c");
        assertThat(architecture(GpuExecutables.elf(224, 4, 0x44))).isEqualTo("gfx1103");
        assertThat(architecture(GpuExecutables.elf(224, 4, 0x53))).isEqualTo("gfx10-3-generic");
        assertThat(architecture(GpuExecutables.elf(224, 4, 0xF0))).isEqualTo("AMD processor 0xf0");
    }

    private static String architecture(byte[] image) {
        return GpuImage.of("image", MemorySegment.ofArray(image)).architecture();
    }

    @Test
    void readsContainersOfSeveralImages() {
        ByteBuffer fatbin = ByteBuffer.allocate(24).order(ByteOrder.LITTLE_ENDIAN);
        fatbin.putInt(0, 0xBA55ED50).putShort(6, (short) 16).putLong(8, 8);
        assertThat(GpuImage.of("image", MemorySegment.ofArray(fatbin.array())).kind())
                .isEqualTo(GpuImage.Kind.FATBIN);
        fatbin.putLong(8, 9);
        assertImageRefused(fatbin.array(), StatusCode.INVALID_ARGUMENT, "content at 16 of 9 bytes outside of its 24");

        ByteBuffer bundle = ByteBuffer.allocate(24 + 8 + 24 + 4 + 8).order(ByteOrder.LITTLE_ENDIAN);
        bundle.put(0, "__CLANG_OFFLOAD_BUNDLE__".getBytes());
        bundle.putLong(24, 1).putLong(32, 60).putLong(40, 8).putLong(48, 4);
        assertThat(GpuImage.of("image", MemorySegment.ofArray(bundle.array())).kind())
                .isEqualTo(GpuImage.Kind.BUNDLE);
        bundle.putLong(40, 9);
        assertImageRefused(bundle.array(), StatusCode.INVALID_ARGUMENT, "content at 60 of 9 bytes outside of its 68");
        bundle.putLong(40, 8).putLong(24, 2);
        assertImageRefused(bundle.array(), StatusCode.INVALID_ARGUMENT, "header at 60 of 24 bytes outside of its 68");
        bundle.putLong(24, 1).putLong(48, Long.MAX_VALUE);
        assertImageRefused(bundle.array(), StatusCode.INVALID_ARGUMENT, "of 9223372036854775807 bytes outside");
        bundle.putLong(24, -1);
        assertImageRefused(
                bundle.array(),
                StatusCode.RESOURCE_EXHAUSTED,
                "18446744073709551615 images, more than the limit of 256");
    }

    @Test
    void namesTheFaultOfImages() {
        assertImageRefused(new byte[4], StatusCode.UNIMPLEMENTED, "of 4 bytes begins with 0x00000000; PTX, ELF");
        assertImageRefused("BC".getBytes(), StatusCode.UNIMPLEMENTED, "of 2 bytes begins with");
        byte[] elf = GpuExecutables.elf(190, 7, 80);
        assertImageRefused(
                Arrays.copyOf(elf, 63), StatusCode.INVALID_ARGUMENT, "header at 0 of 64 bytes outside of its 63 bytes");
        assertImageRefused(
                Arrays.copyOf(elf, 199), StatusCode.INVALID_ARGUMENT, "segments at 184 of 16 bytes outside of its 199");
        assertElfRefused(4, 1, 1, "of another form than 64 bits, little-endian");
        assertElfRefused(18, 2, 62, "is an ELF file for machine 62; 190 (CUDA) and 224 (AMD GPU) are known");
        assertElfRefused(54, 2, 32, "segments described by 32 bytes each instead of 56");
        assertElfRefused(56, 2, 3, "segments at 64 of 168 bytes outside of its 200 bytes");
        assertElfRefused(40, 8, -1, "sections at 18446744073709551615 of 64 bytes outside");
        assertElfRefused(120 + 32, 8, Long.MAX_VALUE, "sections at 184 of 9223372036854775807 bytes outside");
        byte[] without = GpuExecutables.elf(190, 7, 80);
        ByteBuffer.wrap(without).order(ByteOrder.LITTLE_ENDIAN).putInt(124, 8).putLong(152, Long.MAX_VALUE);
        assertThat(architecture(without)).isEqualTo("sm_80"); // zeroed memory is not in the file
    }

    private static void assertElfRefused(int at, int size, long value, String message) {
        byte[] elf = GpuExecutables.elf(190, 7, 80);
        ByteBuffer bytes = ByteBuffer.wrap(elf).order(ByteOrder.LITTLE_ENDIAN);
        switch (size) {
            case 1 -> bytes.put(at, (byte) value);
            case 2 -> bytes.putShort(at, (short) value);
            default -> bytes.putLong(at, value);
        }
        assertImageRefused(elf, StatusCode.INVALID_ARGUMENT, message);
    }

    private static void assertImageRefused(byte[] image, StatusCode code, String message) {
        byte[] data = GpuExecutables.pack(GpuExecutables.CUDA, List.of(GpuExecutables.kernel("k", 0, 0)), image);
        assertRefused(data, code, message);
    }

    @Test
    void namesTheFaultOfTheHeader() {
        assertRefused(new byte[3], StatusCode.INVALID_ARGUMENT, "executable cannot be read: its header");
        assertRefused("CDA1".getBytes(), StatusCode.INVALID_ARGUMENT, "its header of 64 bytes is cut off at 4");
        assertRefused(patched(4, 1), StatusCode.INCOMPATIBLE, "its header has version 1, only 0 is known");
        assertRefused(patched(8, 0), StatusCode.INVALID_ARGUMENT, "its header announces 0 bytes");
        assertRefused(patched(8, 1 << 30), StatusCode.INVALID_ARGUMENT, "its header announces 1073741824 bytes");
        assertRefused(patched(68, 0), StatusCode.INVALID_ARGUMENT, "it is not a CUDA executable: identifier '????'");
        byte[] hip = GpuExecutables.pack(GpuExecutables.HIP, List.of(), PTX);
        assertRefused(hip, StatusCode.INVALID_ARGUMENT, "it is not a CUDA executable");
        assertThatThrownBy(() -> read(pack(), "metal-msl-fb"))
                .isInstanceOf(IreeException.class)
                .hasMessageContaining("its format is 'metal-msl-fb'; 'cuda-nvptx-fb' and 'rocm-hsaco-fb' are known");
    }

    @Test
    void namesTheFaultOfKernels() {
        assertRefused(kernel(k -> k.u32(0, 1)), "module 1 of kernel 'k' does not exist, there are 1");
        assertRefused(kernel(k -> k.u32(0, -1)), "module 4294967295 of kernel 'k' does not exist");
        assertRefused(kernel(k -> k.text(1, "")), "export 0 has no name");
        assertRefused(kernel(k -> k.text(1, "a\0b")), "the name of export 0 contains a NUL at 1 of 3");
        assertRefused(
                kernel(k -> k.text(1, "n".repeat(4097))),
                StatusCode.RESOURCE_EXHAUSTED,
                "4097 bytes of the name of export 0 exceed the limit of 4096");
        assertRefused(pack(new Table().text(1, "k")), "kernel 'k' has no block size");
        assertRefused(kernel(k -> k.struct(2, 1, 0, 1)), "kernel 'k' has blocks of 1x0x1 threads, none");
        assertRefused(
                kernel(k -> k.struct(2, 64, 17, 1)),
                StatusCode.RESOURCE_EXHAUSTED,
                "blocks of 64x17x1 threads of kernel 'k' exceed the limit of 1024");
        assertRefused(
                kernel(k -> k.struct(2, -1, -1, -1)),
                StatusCode.RESOURCE_EXHAUSTED,
                "blocks of 4294967295x4294967295x");
        assertRefused(
                kernel(k -> k.u32(3, 1048577)),
                StatusCode.RESOURCE_EXHAUSTED,
                "1048577 bytes of shared memory of kernel 'k' exceed the limit of 1048576");
        assertRefused(
                kernel(k -> k.u32(4, 65)),
                StatusCode.RESOURCE_EXHAUSTED,
                "65 constants of kernel 'k' exceed the limit of 64");
        assertRefused(
                pack(GpuExecutables.kernel("k", 65, 0)),
                StatusCode.RESOURCE_EXHAUSTED,
                "buffers of kernel 'k' has 65 elements, more than the limit of 64");
        assertRefused(
                GpuExecutables.packOld("CUDA", "add", new int[] {1, 1, 1, 1, 1, 1}, 0, PTX),
                "it has 2 block sizes for 1 kernels");
        assertRefused(GpuExecutables.packOld("CUDA", "add", BLOCK, 0, new byte[0]), "image is empty");
        assertRefused(
                GpuExecutables.packOld("CUDA", "add", BLOCK, Integer.MAX_VALUE, PTX),
                StatusCode.RESOURCE_EXHAUSTED,
                "bytes of shared");
    }

    private static byte[] kernel(Consumer<Table> change) {
        Table kernel = GpuExecutables.kernel("k", 1, 1);
        change.accept(kernel);
        return pack(kernel);
    }

    /** Real ones: each form of each format, and its answers about kernels. */
    @Test
    void readsTheExecutablesOfFixtures() throws Exception {
        int count = 0;
        try (Stream<Path> files = Files.walk(Fixtures.DIRECTORY.resolve("modules"))) {
            for (Path file :
                    files.filter(GpuExecutableFileTest::isForGpu).sorted().toList()) {
                boolean rocm = file.getParent().endsWith("rocm");
                for (MemorySegment data : executables(file)) {
                    GpuExecutableFile read =
                            GpuExecutableFile.read(data, rocm ? GpuExecutableFile.HIP : GpuExecutableFile.CUDA);
                    assertThat(read.exports()).as(file.toString()).isNotEmpty();
                    for (GpuImage image : read.modules()) {
                        assertThat(image.kind()).isEqualTo(rocm ? GpuImage.Kind.ELF : GpuImage.Kind.PTX);
                        assertThat(image.architecture())
                                .as(file.toString())
                                .matches(rocm ? "gfx90a(:sramecc\\+:xnack-)?" : "sm_(75|80)");
                    }
                    count++;
                }
            }
        }
        assertThat(count).isGreaterThan(100);
        Export export =
                read("3.13.0/cuda/matmul_f32", GpuExecutableFile.CUDA).exports().getFirst();
        long indirect = 2; // may be bound when a recording runs
        assertThat(export.bindingFlags())
                .containsExactly(
                        GpuExecutableFile.READ_ONLY | indirect, GpuExecutableFile.READ_ONLY | indirect, indirect);
        assertThat(export.constantCount()).isZero();
    }

    private static boolean isForGpu(Path file) {
        String variant = file.getParent().getFileName().toString();
        return file.toString().endsWith(".vmfb") && (variant.startsWith("cuda") || variant.startsWith("rocm"));
    }

    /** The constants of a module that are executables, judged by their beginning. */
    private static List<MemorySegment> executables(Path file) throws IOException {
        List<String> identifiers = List.of("CDA1", "CUDA", "HIP1", "ROCM");
        return ModuleDef.read(MemorySegment.ofArray(Files.readAllBytes(file)), ModuleLimits.DEFAULTS).rodata().stream()
                .map(ModuleDef.Rodata::bytes)
                .filter(data -> data.byteSize() > 64
                        && (identifiers.contains(text(data, 0)) || identifiers.contains(text(data, 4))))
                .toList();
    }

    private static String text(MemorySegment data, long at) {
        return new String(data.asSlice(at, 4).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.ISO_8859_1);
    }

    private static GpuExecutableFile read(String module, String format) throws IOException {
        return GpuExecutableFile.read(
                executables(Fixtures.file(module + ".vmfb")).getFirst(), format);
    }

    /** Reading arbitrary bytes ends with an executable with images inside the data, or with a status. */
    @Test
    void readsDamagedExecutablesWithoutHarm() throws Exception {
        long seed = Long.getLong("iree4j.test.seed", System.nanoTime());
        Random random = new Random(seed);
        List<Damaged> originals = new ArrayList<>(List.of(
                new Damaged(
                        GpuExecutableFile.CUDA,
                        GpuExecutables.pack(
                                GpuExecutables.CUDA,
                                List.of(GpuExecutables.kernel("a", 2, 2), GpuExecutables.kernel("b", 1, 0)),
                                PTX,
                                GpuExecutables.elf(190, 7, 80))),
                new Damaged(
                        GpuExecutableFile.CUDA,
                        GpuExecutables.packOld("CUDA", "add", BLOCK, -1, GpuExecutables.elf(190, 7, 80)))));
        for (String module : List.of("20230404.479/cuda/add", "3.6.0/cuda/add", "3.13.0/cuda/add")) {
            originals.add(damaged(GpuExecutableFile.CUDA, module));
        }
        for (String module : List.of("20240226.813/rocm/reduce_f32", "3.0.0/rocm/matmul_f32", "3.13.0/rocm/add")) {
            originals.add(damaged(GpuExecutableFile.HIP, module));
        }
        for (Damaged original : originals) {
            int length = original.data.length;
            for (int i = 0; i < length; i++) {
                original.isRefused(Arrays.copyOf(original.data, i), "length " + i);
            }
            int refused = 0;
            int rounds = 5_000;
            for (int round = 0; round < rounds; round++) {
                byte[] data = original.data.clone();
                for (int n = 1 + random.nextInt(6); n > 0; n--) {
                    // Tables come first or last, and so do the headers of images.
                    int at = random.nextInt(Math.min(length, 700));
                    data[random.nextBoolean() ? at : length - 1 - at] = (byte) random.nextInt();
                }
                refused += original.isRefused(data, "seed " + seed + ", round " + round) ? 1 : 0;
            }
            assertThat(refused).as("refused of %d, seed %d", rounds, seed).isBetween(rounds / 20, rounds - 1);
        }
    }

    private static Damaged damaged(String format, String module) throws IOException {
        MemorySegment data = executables(Fixtures.file(module + ".vmfb")).getFirst();
        return new Damaged(format, data.toArray(ValueLayout.JAVA_BYTE));
    }

    /** The damaged texts read. */
    private record Damaged(String format, byte[] data) {
        boolean isRefused(byte[] changed, String what) {
            try {
                GpuExecutableFile file = read(changed, format);
                for (GpuImage image : file.modules()) {
                    assertThat(image.bytes().byteSize()).as(what).isBetween(1L, (long) changed.length);
                }
                return false;
            } catch (IreeException e) {
                return true;
            } catch (RuntimeException | StackOverflowError e) {
                throw new AssertionError(what, e);
            }
        }
    }

    private static byte[] patched(int at, int value) {
        byte[] data = pack(GpuExecutables.kernel("k", 0, 0));
        ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN).putInt(at, value);
        return data;
    }

    private static void assertRefused(byte[] data, String message) {
        assertRefused(data, StatusCode.INVALID_ARGUMENT, message);
    }

    private static void assertRefused(byte[] data, StatusCode code, String message) {
        assertThatThrownBy(() -> read(data, GpuExecutableFile.CUDA))
                .isInstanceOf(IreeException.class)
                .hasMessageContaining(message)
                .extracting(e -> ((IreeException) e).code())
                .isEqualTo(code);
    }
}

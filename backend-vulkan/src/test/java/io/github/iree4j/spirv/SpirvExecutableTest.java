package io.github.iree4j.spirv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.Fixtures;
import io.github.iree4j.flatbuffer.FlatBufferWriter;
import io.github.iree4j.flatbuffer.FlatBufferWriter.Bytes;
import io.github.iree4j.flatbuffer.FlatBufferWriter.Table;
import io.github.iree4j.hal.vulkan.SpirvExecutables;
import io.github.iree4j.spirv.SpirvLayout.SpirvBinding;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SpirvExecutableTest {
    private static final byte[] ADD = SpirvExecutables.module("add");

    private static SpirvExecutable read(byte[] data) {
        return SpirvExecutable.read(MemorySegment.ofArray(data));
    }

    @Test
    void readsTheOutputOfTheWriter() {
        SpirvExecutable executable = read(SpirvExecutables.pack("add", "gather"));
        assertThat(executable.modules()).hasSize(2);
        assertThat(executable.pipelines()).extracting(SpirvPipeline::name).containsExactly("add", "gather");
        SpirvPipeline gather = executable.pipelines().get(1);
        assertThat(gather.module()).isOne();
        assertThat(gather.addresses()).isNull();
        assertThat(gather.layout())
                .isEqualTo(new SpirvLayout(
                        List.of(
                                List.of(new SpirvBinding(0, 6, 1), new SpirvBinding(1, 7, 2)),
                                List.of(new SpirvBinding(3, 7, 1))),
                        0));
        assertThat(executable.modules().get(0).mismatch(MemorySegment.ofArray(ADD)))
                .isEqualTo(-1);
    }

    @Test
    void readsExecutablesWithoutHeader() {
        byte[] packed = SpirvExecutables.pack("add");
        SpirvExecutable executable = read(Arrays.copyOfRange(packed, 64, packed.length));
        assertThat(executable.pipelines()).extracting(SpirvPipeline::name).containsExactly("add");
    }

    @Test
    void readsLayoutsOfAddresses() {
        SpirvPipeline pipeline = read(SpirvExecutables.packAddresses("bda_scale", 2, 2))
                .pipelines()
                .getFirst();
        assertThat(pipeline.addresses()).isNotNull();
        assertThat(pipeline.addresses().bindingCount()).isEqualTo(2);
        assertThat(pipeline.addresses().constantOffset()).isEqualTo(32);
        assertThat(pipeline.addresses().alignments()).containsExactly(4, 4);
        assertThat(pipeline.layout()).isEqualTo(new SpirvLayout(List.of(), 40));
    }

    @Test
    void readsTheThreeOldForms() {
        Bytes code = new Bytes(ADD, 4, 4);
        byte[] untilDecember2022 = old(root -> root.node(1, code));
        byte[] untilDecember2023 =
                old(root -> root.node(1, new Bytes(words(8), 4, 4)).node(2, code));
        byte[] untilAugust2024 = old(root -> root.node(1, new Bytes(words(16), 4, 4))
                .node(2, new Bytes(words(1), 4, 4))
                .tables(3, List.of(new Table().node(0, new Bytes(words(0), 4, 4)), new Table().node(0, code))));
        assertOld(untilDecember2022, 0, 0);
        assertOld(untilDecember2023, 0, 8);
        assertOld(untilAugust2024, 1, 16);
    }

    private static void assertOld(byte[] data, int module, int subgroupSize) {
        SpirvExecutable executable = read(data);
        assertThat(executable.pipelines())
                .containsExactly(new SpirvPipeline("add", "add", module, subgroupSize, null, null));
        assertThat(executable.modules().get(module).mismatch(MemorySegment.ofArray(ADD)))
                .isEqualTo(-1);
    }

    private static byte[] old(Consumer<Table> fields) {
        Table root = new Table().node(0, new FlatBufferWriter.Texts(List.of("add")));
        fields.accept(root);
        return FlatBufferWriter.write(root, "SPVE", 4);
    }

    private static byte[] words(int... words) {
        ByteBuffer bytes = ByteBuffer.allocate(4 * words.length).order(ByteOrder.LITTLE_ENDIAN);
        for (int word : words) {
            bytes.putInt(word);
        }
        return bytes.array();
    }

    /** Executables compiled in 2023. */
    @Test
    void readsTheExecutablesOf2023() throws Exception {
        byte[] module = Files.readAllBytes(Fixtures.file("20231004.665/vulkan-async/filters.vmfb"));
        int found = 0;
        for (int at = 4; at + 4 < module.length; at++) {
            if (module[at] == 'S' && module[at + 1] == 'P' && module[at + 2] == 'V' && module[at + 3] == 'E') {
                int length = ByteBuffer.wrap(module)
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .getInt(at - 12); // 64 bits, with an upper half of 0
                SpirvExecutable executable = read(Arrays.copyOfRange(module, at - 4, at - 4 + length));
                SpirvPipeline pipeline = executable.pipelines().getFirst();
                assertThat(pipeline.layout()).isNull();
                SpirvEntryPoint entry = SpirvModule.read(executable.modules().get(pipeline.module()), new int[0])
                        .entryPoint(pipeline.entryPoint());
                assertThat(entry.resources()).isNotEmpty();
                found++;
            }
        }
        assertThat(found).isPositive();
    }

    @Test
    void namesTheFaultOfTheHeader() {
        assertRefused(new byte[3], StatusCode.INVALID_ARGUMENT, "executable cannot be read: its header");
        assertRefused("VKE1".getBytes(), StatusCode.INVALID_ARGUMENT, "its header of 64 bytes is cut off at 4");
        assertRefused(patched(4, 1), StatusCode.INCOMPATIBLE, "its header has version 1, only 0 is known");
        assertRefused(patched(8, 0), StatusCode.INVALID_ARGUMENT, "its header announces 0 bytes");
        assertRefused(patched(8, 1 << 30), StatusCode.INVALID_ARGUMENT, "its header announces 1073741824 bytes");
        assertRefused(patched(68, 0), StatusCode.INVALID_ARGUMENT, "it is not a SPIR-V executable: identifier '????'");
        assertRefused(new byte[64], StatusCode.INVALID_ARGUMENT, "it is not a SPIR-V executable");
    }

    @Test
    void namesTheFaultOfLayouts() {
        SpirvLayout layout = new SpirvLayout(List.of(List.of(new SpirvBinding(0, 7, 1))), 8);
        assertRefused(withSet(new SpirvBinding(0, 0, 1)), StatusCode.UNIMPLEMENTED, "has descriptor type 0");
        assertRefused(
                withSet(new SpirvBinding(0, 7, 0)), StatusCode.INVALID_ARGUMENT, "has 0 buffers and must have 1 to 64");
        assertRefused(withSet(new SpirvBinding(0, 7, 65)), StatusCode.INVALID_ARGUMENT, "has 65 buffers");
        assertRefused(
                withSet(new SpirvBinding(1, 7, 1), new SpirvBinding(1, 7, 1)),
                StatusCode.INVALID_ARGUMENT,
                "binding 1 of descriptor set layout 0 does not come after the one before it");
        assertRefused(
                withSet(new SpirvBinding(0, 7, 40), new SpirvBinding(1, 7, 40)),
                StatusCode.RESOURCE_EXHAUSTED,
                "80 buffers of pipeline layout 0 exceed the limit of 64");
        assertRefused(
                write(new SpirvLayout(List.of(), 7), null, 0), StatusCode.INVALID_ARGUMENT, "must be multiples of 4");
        assertRefused(
                write(new SpirvLayout(List.of(), 400), null, 0),
                StatusCode.RESOURCE_EXHAUSTED,
                "400 bytes of push constants");
        assertRefused(
                write(layout, null, 3), StatusCode.INVALID_ARGUMENT, "shader module 3 does not exist, there are 1");
    }

    @Test
    void namesTheFaultOfAddresses() {
        SpirvLayout layout = new SpirvLayout(List.of(), 40);
        assertRefused(
                write(layout, addresses(0, 36, 2, 1, 1, 0), 0),
                StatusCode.INVALID_ARGUMENT,
                "constants of pipeline 'add' at 36");
        assertRefused(write(layout, addresses(0, 16, 2, 1, 1, 0), 0), StatusCode.INVALID_ARGUMENT, "overlap");
        assertRefused(
                write(layout, addresses(2, 32, 2, 1, 1, 0), 0),
                StatusCode.INVALID_ARGUMENT,
                "root of pipeline 'add' at 2");
        assertRefused(write(layout, addresses(0, 32, 65, 1, 1, 0), 0), StatusCode.RESOURCE_EXHAUSTED, "65 constants");
        assertRefused(write(layout, addresses(0, 32, 2, 65, 1, 0), 0), StatusCode.RESOURCE_EXHAUSTED, "65");
        assertRefused(write(layout, addresses(0, 32, 2, 1, 3, 0), 0), StatusCode.INVALID_ARGUMENT, "needs alignment 3");
        assertRefused(write(layout, addresses(0, 32, 2, 1, 4, -1), 0), StatusCode.INVALID_ARGUMENT, "-1 bytes");
        SpirvLayout descriptors = new SpirvLayout(List.of(List.of(new SpirvBinding(0, 7, 1))), 40);
        assertRefused(
                write(descriptors, addresses(0, 32, 2, 1, 4, 0), 0),
                StatusCode.INVALID_ARGUMENT,
                "its layout has 1 buffers");
    }

    /** Fields never written by the writer. */
    @Test
    void namesTheFaultInThePassingOfBuffers() {
        assertRefused(
                pipeline(0, new Table()), StatusCode.INVALID_ARGUMENT, "descriptors and has a layout of addresses");
        assertRefused(pipeline(1, null), StatusCode.INVALID_ARGUMENT, "takes addresses and has no layout of them");
        assertRefused(pipeline(2, null), StatusCode.UNIMPLEMENTED, "has dispatch ABI 2");
        assertRefused(pipeline(1, new Table().u32(0, 2)), StatusCode.UNIMPLEMENTED, "takes addresses of version 2");
        assertRefused(pipeline(1, new Table().u8(5, 1)), StatusCode.UNIMPLEMENTED, "and entry type 1");
        assertRefused(
                pipeline(1, new Table().u32(2, 28)),
                StatusCode.INVALID_ARGUMENT,
                "root of pipeline 'add' has 28 bytes");
        Table more = new Table().u32(6, 1).tables(7, List.of(new Table().u32(0, 4), new Table().u32(0, 4)));
        assertRefused(pipeline(1, more), StatusCode.INVALID_ARGUMENT, "has requirements of 2 buffers and takes 1");
        assertThat(read(pipeline(1, new Table().u32(6, 3)))
                        .pipelines()
                        .getFirst()
                        .addresses()
                        .alignments())
                .as("of buffers without requirements")
                .containsExactly(1, 1, 1);
    }

    private static byte[] pipeline(int abi, @Nullable Table addresses) {
        Table pipeline = new Table().u32(0, 0).text(1, "add").u32(2, 0).u8(5, abi);
        if (addresses != null) {
            pipeline.node(6, addresses);
        }
        Table layout = new Table().node(1, new Bytes(words(0x20, 0, 64), 12, 4));
        Table module = new Table().node(0, new Bytes(ADD, 4, 4));
        Table root = new Table()
                .tables(0, List.of(pipeline))
                .tables(2, List.of(layout))
                .tables(3, List.of(module));
        return FlatBufferWriter.write(root, "VKE1", 8);
    }

    private static SpirvPipeline.Addresses addresses(
            int root, int constants, int count, int bindings, int alignment, long length) {
        int[] alignments = new int[bindings];
        long[] lengths = new long[bindings];
        Arrays.fill(alignments, alignment);
        Arrays.fill(lengths, length);
        return new SpirvPipeline.Addresses(root, constants, count, bindings, alignments, lengths);
    }

    private static byte[] withSet(SpirvBinding... bindings) {
        return write(new SpirvLayout(List.of(List.of(bindings)), 0), null, 0);
    }

    private static byte[] write(SpirvLayout layout, SpirvPipeline.@Nullable Addresses addresses, int module) {
        return SpirvExecutableWriter.write(new SpirvExecutable(
                List.of(new SpirvPipeline("add", "add", module, 0, layout, addresses)),
                List.of(MemorySegment.ofArray(ADD))));
    }

    /** Reading arbitrary bytes ends with an executable or a status. */
    @Test
    void readsDamagedExecutablesWithoutHarm() {
        long seed = Long.getLong("iree4j.test.seed", System.nanoTime());
        Random random = new Random(seed);
        byte[][] originals = {
            SpirvExecutables.pack("add", "gather"),
            SpirvExecutables.packAddresses("bda_scale", 2, 2),
            old(root -> root.node(1, new Bytes(words(8), 4, 4)).node(2, new Bytes(ADD, 4, 4)))
        };
        int refused = 0;
        int rounds = 20_000;
        for (int round = 0; round < rounds; round++) {
            byte[] data = originals[round % originals.length].clone();
            for (int n = 1 + random.nextInt(6); n > 0; n--) {
                // Tables come first, module words last.
                data[random.nextInt(Math.min(data.length, 700))] = (byte) random.nextInt();
            }
            if (random.nextInt(8) == 0) {
                data = Arrays.copyOf(data, random.nextInt(data.length));
            }
            try {
                SpirvExecutable executable = read(data);
                for (MemorySegment module : executable.modules()) {
                    SpirvModule.read(module, new int[0]);
                }
            } catch (IreeException e) {
                refused++;
            } catch (RuntimeException | StackOverflowError e) {
                throw new AssertionError("seed " + seed + ", round " + round, e);
            }
        }
        assertThat(refused).as("refused of %d, seed %d", rounds, seed).isBetween(rounds / 10, rounds - 1);
    }

    private static byte[] patched(int at, int value) {
        byte[] data = SpirvExecutables.pack("add");
        ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN).putInt(at, value);
        return data;
    }

    private static void assertRefused(byte[] data, StatusCode code, String message) {
        assertThatThrownBy(() -> read(data))
                .isInstanceOf(IreeException.class)
                .hasMessageContaining(message)
                .extracting(e -> ((IreeException) e).code())
                .isEqualTo(code);
    }
}

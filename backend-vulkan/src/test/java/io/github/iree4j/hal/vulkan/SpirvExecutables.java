package io.github.iree4j.hal.vulkan;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.flatbuffer.FlatBufferWriter;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.spirv.SpirvExecutable;
import io.github.iree4j.spirv.SpirvExecutableWriter;
import io.github.iree4j.spirv.SpirvLayout;
import io.github.iree4j.spirv.SpirvPipeline;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;

/**
 * Executables of the kernels in {@code src/test/resources/vulkan}: {@code name.comp} is the source, {@code name.spv} the output
 * of {@code glslangValidator}, with an entry point of that name.
 */
public final class SpirvExecutables {
    /** The format for kernels with descriptors. */
    public static final String DESCRIPTORS = "vulkan-spirv-fb";

    /** The format for kernels with addresses. */
    public static final String ADDRESSES = "vulkan-spirv-bda-v1";

    private SpirvExecutables() {}

    /** The words of a kernel. */
    public static byte[] module(String kernel) {
        try (InputStream in = SpirvExecutables.class.getResourceAsStream("/vulkan/" + kernel + ".spv")) {
            assertThat(in).as("resource vulkan/%s.spv", kernel).isNotNull();
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Kernel {@code sized} as written by compilers for SPIR-V 1.6: the execution mode, not a decorated constant, has
     * the size.
     */
    public static byte[] sizedById() {
        byte[] module = module("sized");
        ByteBuffer words = ByteBuffer.wrap(module).order(ByteOrder.LITTLE_ENDIAN);
        int mode = 0;
        int size = 0; // the constant decorated as the size
        for (int at = 5; at < module.length / 4; at += words.getInt(4 * at) >>> 16) {
            int op = words.getInt(4 * at) & 0xFFFF;
            if (op == 16) {
                mode = at;
            } else if (op == 71 && words.getInt(4 * at + 8) == 11 && words.getInt(4 * at + 12) == 25) {
                size = words.getInt(4 * at + 4);
                words.putInt(4 * at + 12, 24);
            } else if (op == 51 && words.getInt(4 * at + 8) == size) {
                words.putInt(4 * mode, 6 << 16 | 331).putInt(4 * mode + 8, 38);
                for (int i = 3; i < 6; i++) {
                    words.putInt(4 * (mode + i), words.getInt(4 * (at + i)));
                }
            }
        }
        return module;
    }

    /** An executable with these kernels as exports, each with the layout requested by its code. */
    public static byte[] pack(String... kernels) {
        return packModules(Arrays.stream(kernels).map(SpirvExecutables::module).toArray(byte[][]::new));
    }

    /** An executable of modules. */
    public static byte[] packModules(byte[]... modules) {
        return SpirvExecutableWriter.write(SpirvExecutableWriter.of(segments(modules)));
    }

    /** Parameters of an executable of kernels with descriptors. */
    public static ExecutableParams params(String... kernels) {
        return new ExecutableParams(DESCRIPTORS, MemorySegment.ofArray(pack(kernels)));
    }

    /** As {@link #params}, specialised. */
    public static ExecutableParams specialized(int[] constants, String... kernels) {
        return new ExecutableParams(DESCRIPTORS, MemorySegment.ofArray(pack(kernels)), null, constants);
    }

    /** An executable of a single kernel, compiled for subgroups of a size. */
    public static ExecutableParams withSubgroupSize(int size, String kernel) {
        SpirvExecutable reflected = SpirvExecutableWriter.of(segments(module(kernel)));
        List<SpirvPipeline> pipelines = reflected.pipelines().stream()
                .map(p -> new SpirvPipeline(p.name(), p.entryPoint(), p.module(), size, p.layout(), p.addresses()))
                .toList();
        return new ExecutableParams(
                DESCRIPTORS,
                MemorySegment.ofArray(
                        SpirvExecutableWriter.write(new SpirvExecutable(pipelines, reflected.modules()))));
    }

    /** {@code bda_scale}: bindings in, out; constants count, factor. Each address is a multiple of 4. */
    public static ExecutableParams addresses() {
        return new ExecutableParams(ADDRESSES, MemorySegment.ofArray(packAddresses("bda_scale", 2, 2)));
    }

    /** An executable of a single kernel with addresses of the given number of buffers. */
    public static byte[] packAddresses(String kernel, int constants, int bindings) {
        int[] alignments = new int[bindings];
        Arrays.fill(alignments, 4);
        return packAddresses(kernel, constants, alignments, new long[bindings]);
    }

    /** An executable of a single kernel with addresses of buffers and this requirement. */
    public static byte[] packAddresses(String kernel, int constants, int[] alignments, long[] lengths) {
        SpirvPipeline.Addresses addresses = new SpirvPipeline.Addresses(
                0, SpirvPipeline.ROOT_BYTES, constants, alignments.length, alignments, lengths);
        SpirvLayout layout = new SpirvLayout(List.of(), SpirvPipeline.ROOT_BYTES + 4 * constants);
        return SpirvExecutableWriter.write(new SpirvExecutable(
                List.of(new SpirvPipeline(kernel, kernel, 0, 0, layout, addresses)), segments(module(kernel))));
    }

    /**
     * An executable of a single kernel as written by compilers in 2023, without a declaration of the arguments of
     * dispatches.
     */
    public static byte[] packOld(String kernel) {
        FlatBufferWriter.Table root = new FlatBufferWriter.Table()
                .node(0, new FlatBufferWriter.Texts(List.of(kernel)))
                .node(2, new FlatBufferWriter.Bytes(module(kernel), 4, 4));
        return FlatBufferWriter.write(root, "SPVE", 4);
    }

    private static List<MemorySegment> segments(byte[]... modules) {
        return Arrays.stream(modules).map(MemorySegment::ofArray).toList();
    }
}

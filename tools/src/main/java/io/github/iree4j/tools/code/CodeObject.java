package io.github.iree4j.tools.code;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Machine code for AMD's GPUs, as described by the metadata: an ELF file with a note of type 32 of {@code AMDGPU}.
 *
 * @param target triple and architecture, such as {@code amdgcn-amd-amdhsa--gfx90a}
 * @param kernels the kernels, in the order of the metadata
 * @param bytes the file
 */
public record CodeObject(String target, List<Kernel> kernels, byte[] bytes) {
    private static final ValueLayout.OfShort U16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt U32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong U64 = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private static final int ELF_MAGIC = 0x464C457F;
    private static final int MACHINE_AMDGPU = 224;
    private static final int SECTION_NOTE = 7;
    private static final int SECTION_BYTES = 64;
    private static final int METADATA = 32;

    /**
     * A kernel.
     *
     * @param name the name
     * @param arguments the arguments passed by a launch, without arguments added by the driver
     * @param argumentBytes bytes of all arguments, including arguments added by the driver
     * @param sharedBytes shared memory ("LDS") of a workgroup
     * @param privateBytes memory of a thread
     * @param workgroup threads of a workgroup along x, y and z; empty when the kernel leaves the size open
     * @param waveSize threads of a wave
     */
    public record Kernel(
            String name,
            List<Argument> arguments,
            int argumentBytes,
            int sharedBytes,
            int privateBytes,
            List<Integer> workgroup,
            int waveSize) {}

    /**
     * An argument.
     *
     * @param offset first byte among the arguments
     * @param size bytes
     * @param isBuffer whether the argument is the address of a buffer; otherwise a value
     */
    public record Argument(int offset, int size, boolean isBuffer) {}

    /** Copies the list. */
    public CodeObject {
        kernels = List.copyOf(kernels);
    }

    /**
     * Returns the architecture.
     *
     * @return the end of the target, such as {@code gfx90a}
     */
    public String architecture() {
        return target.substring(target.lastIndexOf('-') + 1);
    }

    /**
     * Reads a code object.
     *
     * @param file the bytes of the file
     * @return the contents of the metadata
     * @throws IreeException INVALID_ARGUMENT when the file is no code object, is cut off, or has no metadata
     */
    public static CodeObject read(byte[] file) {
        try {
            return metadata(MemorySegment.ofArray(file), file);
        } catch (IndexOutOfBoundsException e) {
            throw invalid("the file is cut off after %d bytes".formatted(file.length), e);
        } catch (ClassCastException | ArithmeticException e) {
            throw invalid("the metadata have another form: " + e.getMessage(), e);
        }
    }

    private static CodeObject metadata(MemorySegment elf, byte[] file) {
        if (file.length < SECTION_BYTES
                || elf.get(U32, 0) != ELF_MAGIC
                || Short.toUnsignedInt(elf.get(U16, 18)) != MACHINE_AMDGPU) {
            throw invalid("the file is no ELF file for AMD's GPUs", null);
        }
        long sections = elf.get(U64, 40);
        int count = Short.toUnsignedInt(elf.get(U16, 60));
        for (int i = 0; i < count; i++) {
            MemorySegment section = elf.asSlice(sections + (long) i * SECTION_BYTES, SECTION_BYTES);
            if (section.get(U32, 4) == SECTION_NOTE) {
                byte[] found = note(elf.asSlice(section.get(U64, 24), section.get(U64, 32)));
                if (found.length > 0) {
                    return describe((Map<?, ?>) MessagePack.read(found), file);
                }
            }
        }
        throw invalid("the file has no metadata of kernels; compile for code objects of version 3 or newer", null);
    }

    /** Returns the metadata among notes; empty when there are none. */
    private static byte[] note(MemorySegment notes) {
        for (long at = 0; at + 12 <= notes.byteSize(); ) {
            long name = Integer.toUnsignedLong(notes.get(U32, at));
            long size = Integer.toUnsignedLong(notes.get(U32, at + 4));
            long content = at + 12 + aligned(name);
            String owner =
                    new String(notes.asSlice(at + 12, name).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.US_ASCII);
            if (notes.get(U32, at + 8) == METADATA && owner.equals("AMDGPU\0")) {
                return notes.asSlice(content, size).toArray(ValueLayout.JAVA_BYTE);
            }
            at = content + aligned(size);
        }
        return new byte[0];
    }

    private static long aligned(long size) {
        return size + 3 & -4;
    }

    private static CodeObject describe(Map<?, ?> all, byte[] file) {
        List<Kernel> kernels = new ArrayList<>();
        for (Object each : (List<?>) required(all, "amdhsa.kernels")) {
            kernels.add(kernel((Map<?, ?>) each));
        }
        return new CodeObject((String) required(all, "amdhsa.target"), kernels, file);
    }

    private static Kernel kernel(Map<?, ?> kernel) {
        List<Argument> arguments = new ArrayList<>();
        List<?> listed = kernel.get(".args") instanceof List<?> given ? given : List.of();
        for (Object each : listed) {
            Map<?, ?> argument = (Map<?, ?>) each;
            String kind = (String) required(argument, ".value_kind");
            if (!kind.startsWith("hidden_")) { // added by the driver
                arguments.add(new Argument(
                        number(argument, ".offset"), number(argument, ".size"), kind.equals("global_buffer")));
            }
        }
        List<?> workgroup = kernel.get(".reqd_workgroup_size") instanceof List<?> given ? given : List.of();
        return new Kernel(
                (String) required(kernel, ".name"),
                List.copyOf(arguments),
                number(kernel, ".kernarg_segment_size"),
                number(kernel, ".group_segment_fixed_size"),
                number(kernel, ".private_segment_fixed_size"),
                workgroup.stream().map(each -> Math.toIntExact((Long) each)).toList(),
                number(kernel, ".wavefront_size"));
    }

    private static int number(Map<?, ?> of, String key) {
        return Math.toIntExact((Long) required(of, key));
    }

    private static Object required(Map<?, ?> of, String key) {
        Object value = of.get(key);
        if (value == null) {
            throw invalid("the metadata have no '%s'".formatted(key), null);
        }
        return value;
    }

    private static IreeException invalid(String what, @Nullable Throwable cause) {
        return IreeException.of(StatusCode.INVALID_ARGUMENT, "code object cannot be read: " + what, cause);
    }
}

package io.github.iree4j.hal.gpu;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A module for a GPU's driver. Drivers receive an address without a length. Every field that determines how far a
 * driver reads is therefore checked against the length declared by the executable. Code is not checked: GPU code is
 * trusted like compiled code for a CPU.
 *
 * @param kind the kind of the bytes
 * @param bytes the image; drivers need a {@link #copy}
 * @param architecture the target of compilation, like {@code sm_80} or {@code gfx90a:sramecc+}, for messages; the
 *     architectures of a bundle, divided by commas; empty when unknown
 */
record GpuImage(Kind kind, MemorySegment bytes, String architecture) {
    /** Kinds of images. */
    enum Kind {
        /** Text compiled by the driver for the device. */
        PTX,
        /** Machine code in an ELF file: a cubin or a code object. */
        ELF,
        /** Several images for NVIDIA's devices. */
        FATBIN,
        /** Several images for AMD's devices. */
        BUNDLE
    }

    private static final ValueLayout.OfShort U16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt U32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong U64 = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private static final int ALIGNMENT = 64;

    private static final int ELF_MAGIC = 0x464C457F;
    private static final int ELF_HEADER_BYTES = 64;
    private static final int ELF_64_LITTLE = 0x0201;
    private static final int SEGMENT_BYTES = 56;
    private static final int SECTION_BYTES = 64;
    private static final int SECTION_WITHOUT_BYTES = 8;
    private static final int MACHINE_CUDA = 190;
    private static final int MACHINE_AMDGPU = 224;

    private static final int FATBIN_MAGIC = 0xBA55ED50;
    private static final int FATBIN_HEADER_BYTES = 16;

    private static final String BUNDLE_MAGIC = "__CLANG_OFFLOAD_BUNDLE__";
    private static final int BUNDLE_ENTRY_BYTES = 24;
    private static final int BUNDLE_ENTRIES_LIMIT = 256;

    // The directives are at the beginning, after comments.
    private static final int PTX_HEAD = 4096;
    private static final Pattern PTX_TARGET = Pattern.compile("(?m)^\\s*\\.target\\s+([\\w.]{1,32})");

    /**
     * Recognises an image.
     *
     * @param what the name in messages
     * @param image the bytes
     * @throws IreeException INVALID_ARGUMENT for a truncated image; UNIMPLEMENTED for an unknown kind
     */
    static GpuImage of(String what, MemorySegment image) {
        int magic = image.byteSize() < 4 ? 0 : image.get(U32, 0);
        if (magic == ELF_MAGIC) {
            return new GpuImage(Kind.ELF, image, elf(what, image));
        }
        if (magic == FATBIN_MAGIC) {
            checkFatbin(what, image);
            return new GpuImage(Kind.FATBIN, image, "");
        }
        String head = new String(
                image.asSlice(0, Math.min(PTX_HEAD, image.byteSize())).toArray(ValueLayout.JAVA_BYTE),
                StandardCharsets.ISO_8859_1);
        if (head.startsWith(BUNDLE_MAGIC)) {
            return new GpuImage(Kind.BUNDLE, image, bundle(what, image));
        }
        String text = head.stripLeading();
        if (text.startsWith(".") || text.startsWith("//") || text.startsWith("/*")) {
            Matcher target = PTX_TARGET.matcher(text);
            return new GpuImage(Kind.PTX, image, target.find() ? target.group(1) : "");
        }
        throw IreeException.of(
                StatusCode.UNIMPLEMENTED,
                "%s of %d bytes begins with 0x%08x; PTX, ELF, fat binaries and offload bundles are known, so compile the program for one of them"
                        .formatted(what, image.byteSize(), Integer.reverseBytes(magic)));
    }

    /** Copies the bytes for a driver: aligned, and text ends with a NUL. */
    MemorySegment copy(SegmentAllocator memory) {
        MemorySegment copy = memory.allocate(bytes.byteSize() + 1, ALIGNMENT);
        MemorySegment.copy(bytes, 0, copy, 0, bytes.byteSize());
        copy.set(ValueLayout.JAVA_BYTE, bytes.byteSize(), (byte) 0);
        return copy;
    }

    /** Checks that all parts of an ELF file are inside the file; returns the architecture. */
    private static String elf(String what, MemorySegment image) {
        long length = image.byteSize();
        if (length < ELF_HEADER_BYTES) {
            throw cutOff(what, "header", 0, ELF_HEADER_BYTES, length);
        }
        int form = image.get(ValueLayout.JAVA_BYTE, 4) << 8 | image.get(ValueLayout.JAVA_BYTE, 5);
        if (form != ELF_64_LITTLE) {
            throw GpuExecutableFile.invalid("%s is an ELF file of another form than 64 bits, little-endian", what);
        }
        checkEntries(what, "segments", image, image.get(U64, 32), u16(image, 54), u16(image, 56), SEGMENT_BYTES);
        checkEntries(what, "sections", image, image.get(U64, 40), u16(image, 58), u16(image, 60), SECTION_BYTES);
        int flags = image.get(U32, 48);
        int abi = image.get(ValueLayout.JAVA_BYTE, 8);
        return switch (u16(image, 18)) {
            case MACHINE_CUDA -> GpuArchitecture.cuda(abi, flags);
            case MACHINE_AMDGPU -> GpuArchitecture.amd(abi, flags);
            default ->
                throw GpuExecutableFile.invalid(
                        "%s is an ELF file for machine %d; %d (CUDA) and %d (AMD GPU) are known",
                        what, u16(image, 18), MACHINE_CUDA, MACHINE_AMDGPU);
        };
    }

    private static void checkEntries(
            String what, String part, MemorySegment image, long at, int entryBytes, int count, int wantedBytes) {
        if (count == 0) {
            return;
        }
        if (entryBytes != wantedBytes) {
            throw GpuExecutableFile.invalid(
                    "%s has %s described by %d bytes each instead of %d", what, part, entryBytes, wantedBytes);
        }
        checkInside(what, part, at, (long) count * entryBytes, image.byteSize());
        boolean sections = wantedBytes == SECTION_BYTES;
        for (int i = 0; i < count; i++) {
            MemorySegment entry = image.asSlice(at + (long) i * entryBytes, entryBytes);
            boolean empty = sections && (entry.get(U32, 4) == SECTION_WITHOUT_BYTES || entry.get(U32, 4) == 0);
            if (!empty) {
                checkInside(what, part, entry.get(U64, sections ? 24 : 8), entry.get(U64, 32), image.byteSize());
            }
        }
    }

    private static void checkFatbin(String what, MemorySegment image) {
        if (image.byteSize() < FATBIN_HEADER_BYTES) {
            throw cutOff(what, "header", 0, FATBIN_HEADER_BYTES, image.byteSize());
        }
        checkInside(what, "content", u16(image, 6), image.get(U64, 8), image.byteSize());
    }

    /** Checks the parts of a bundle; returns the architectures. */
    private static String bundle(String what, MemorySegment image) {
        List<String> architectures = new ArrayList<>();
        long at = BUNDLE_MAGIC.length();
        checkInside(what, "header", at, 8, image.byteSize());
        long count = image.get(U64, at);
        if (count < 0 || count > BUNDLE_ENTRIES_LIMIT) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "%s bundles %s images, more than the limit of %d; compile the program for fewer devices"
                            .formatted(what, Long.toUnsignedString(count), BUNDLE_ENTRIES_LIMIT));
        }
        at += 8;
        for (long i = 0; i < count; i++) {
            checkInside(what, "header", at, BUNDLE_ENTRY_BYTES, image.byteSize());
            long name = image.get(U64, at + 16);
            checkInside(what, "content", image.get(U64, at), image.get(U64, at + 8), image.byteSize());
            checkInside(what, "header", at + BUNDLE_ENTRY_BYTES, name, image.byteSize());
            MemorySegment part = image.asSlice(image.get(U64, at), image.get(U64, at + 8));
            if (part.byteSize() >= 4 && part.get(U32, 0) == ELF_MAGIC) {
                architectures.add(elf("part " + i + " of " + what, part));
            }
            at += BUNDLE_ENTRY_BYTES + name;
        }
        return String.join(", ", architectures);
    }

    private static int u16(MemorySegment bytes, long at) {
        return Short.toUnsignedInt(bytes.get(U16, at));
    }

    private static void checkInside(String what, String part, long at, long size, long length) {
        if (at < 0 || size < 0 || at > length || size > length - at) {
            throw cutOff(what, part, at, size, length);
        }
    }

    private static IreeException cutOff(String what, String part, long at, long size, long length) {
        return GpuExecutableFile.invalid(
                "%s has %s at %s of %s bytes outside of its %d bytes",
                what, part, Long.toUnsignedString(at), Long.toUnsignedString(size), length);
    }
}
